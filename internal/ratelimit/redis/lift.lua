-- Ends a ban and forgets the offences that count towards the next one.
--
-- KEYS  ban offences
--
-- What is not ours is not deleted: reading it fails first.
redis.call('GET', KEYS[1])
redis.call('LLEN', KEYS[2])
return redis.call('DEL', KEYS[1], KEYS[2])
