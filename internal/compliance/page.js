"use strict";
(() => {
	const all = (where, what) => Array.from(where.querySelectorAll(what));
	const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
	const shown = new Map(); // by the id of a table: what the visitor made of it

	// Times are those of the viewer's zone.
	const localTimes = (where) => {
		const thisYear = new Date().getFullYear();
		for (const time of all(where, "time[datetime]")) {
			const at = new Date(time.dateTime);
			if (isNaN(at)) continue;
			const options = { day: "numeric", month: "short" };
			const short = at.getFullYear() === thisYear;
			const exact = time.closest(".evidence");
			if (!short || exact || time.closest("header")) options.year = "numeric";
			if (short || exact || time.closest("header")) options.hour = options.minute = "2-digit";
			if (exact) options.second = "2-digit";
			time.title = time.dateTime;
			time.textContent = at.toLocaleString("en-GB", options);
		}
		const note = document.getElementById("zone");
		if (note && zone !== note.dataset.zone) note.textContent = "Times are in your zone, " + zone + "; each chart names its own.";
	};

	// What a cell is sorted by: a time, a length, a number of several forms, or its text.
	const value = (cell) => {
		const time = cell.querySelector("time");
		if (time) return time.dateTime;
		const data = cell.querySelector("data");
		if (data) return data.value;
		const part = cell.querySelector(".kept");
		if (part) return part.getAttribute("width");
		return (cell.querySelector(".full") || cell).textContent.replace(/[\u202f,]/g, "").trim();
	};

	// A heading sorts its column: first the most, then the least.
	const sortable = (table) => {
		const state = shown.get(table.id);
		const heads = all(table, "thead tr:last-child th");
		const body = table.tBodies[0];
		const sort = () => {
			heads.forEach((th, i) => {
				if (state.column !== i) th.removeAttribute("aria-sort");
				else th.setAttribute("aria-sort", state.up ? "ascending" : "descending");
			});
			if (state.column === undefined) return;
			const rows = Array.from(body.rows, (row) => [value(row.cells[state.column]), row]);
			const compare = (a, b) => a - b || a.localeCompare(b, "en", { sensitivity: "base" }); // NaN for texts
			rows.sort(([a], [b]) => compare(a, b) * (state.up ? 1 : -1));
			body.append(...rows.map(([, row]) => row));
		};
		heads.forEach((th, i) => {
			if (th.classList.contains("fixed")) return;
			const button = document.createElement("button");
			button.type = "button";
			button.id = table.id + "sort" + i;
			button.append(...th.childNodes);
			button.addEventListener("click", () => {
				state.up = state.column === i ? !state.up : i === 0;
				state.column = i;
				sort();
			});
			th.append(button);
		});
		sort();
	};

	// A form above a table leaves out rows.
	const filterable = (form, table) => {
		const state = shown.get(table.id);
		const [find, bad] = all(form, "input");
		const count = form.querySelector("output");
		const filter = () => {
			state.find = find.value;
			state.bad = bad.checked;
			const text = find.value.trim().toLowerCase();
			let left = 0;
			for (const row of table.tBodies[0].rows) {
				const obeys = row.querySelector(".kept").getAttribute("width") === "100";
				row.hidden = (bad.checked && obeys) || !row.cells[0].textContent.toLowerCase().includes(text);
				if (!row.hidden) left++;
			}
			count.textContent = text || bad.checked ? left + " of " + table.tBodies[0].rows.length : "";
		};
		find.value = state.find || "";
		bad.checked = state.bad || false;
		form.addEventListener("input", filter);
		form.addEventListener("submit", (event) => event.preventDefault());
		form.hidden = false;
		filter();
	};

	// What a link leads to is opened.
	const openTarget = () => {
		const target = document.getElementById(location.hash.slice(1));
		if (target instanceof HTMLDetailsElement) {
			target.open = true;
			target.scrollIntoView();
		}
	};

	const enhance = () => {
		localTimes(document);
		for (const table of all(document, "table.robots")) {
			if (!shown.has(table.id)) shown.set(table.id, {});
			sortable(table);
			filterable(table.closest("section").querySelector("form.tools"), table);
		}
	};

	// What the visitor made of the page, to be made of it again.
	const keep = () => {
		const open = all(document, "details[id]").map((d) => [d.id, d.open]);
		const aside = all(document, ".wide[id]").map((w) => [w.id, w.scrollLeft]);
		const from = document.activeElement;
		const focus = from && from.id;
		const chosen = from instanceof HTMLInputElement && from.type === "search" && [from.selectionStart, from.selectionEnd];
		const [x, y] = [scrollX, scrollY];
		const each = (list, what) => {
			for (const [id, value] of list) {
				const element = document.getElementById(id);
				if (element) what(element, value);
			}
		};
		return () => {
			each(open, (d, value) => { d.open = value; });
			each(aside, (w, value) => { w.scrollLeft = value; });
			const to = focus && document.getElementById(focus);
			if (to && to !== document.activeElement) {
				to.focus({ preventScroll: true });
				if (chosen) to.setSelectionRange(...chosen);
			}
			if (scrollX !== x || scrollY !== y) scrollTo({ left: x, top: y, behavior: "instant" });
		};
	};

	// A live page takes in a new main part, and stays as the visitor made it.
	const refresh = async (say) => {
		try {
			const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
			if (!answer.ok) throw new Error("it answered " + answer.status);
			const text = await answer.text();
			const body = text.indexOf("<body"); // what stands above it is for another policy
			if (body < 0) throw new Error("it is another page");
			const fresh = new DOMParser().parseFromString(text.slice(body), "text/html");
			const parts = ["header > p", "main"].map((part) => [document.querySelector(part), fresh.querySelector(part)]);
			if (parts.some(([, from]) => !from)) throw new Error("it is another page");
			const again = keep();
			for (const [to, from] of parts) to.replaceWith(document.adoptNode(from));
			enhance();
			again();
			say("");
		} catch (error) {
			say("Not refreshed: " + error.message);
		}
	};

	const seconds = Number(document.body.dataset.refresh);
	if (seconds > 0 && location.protocol.startsWith("http")) {
		const live = document.getElementById("live");
		const button = live.querySelector("button");
		const status = live.querySelector("[role=status]");
		const say = (text) => { if (status.textContent !== text) status.textContent = text; };
		let paused = false;
		button.addEventListener("click", () => {
			paused = !paused;
			button.setAttribute("aria-pressed", String(paused));
			say(paused ? "Paused" : "");
		});
		live.hidden = false;
		const again = async () => {
			if (!paused && !document.hidden) await refresh(say);
			setTimeout(again, seconds * 1000);
		};
		setTimeout(again, seconds * 1000);
	}

	enhance();
	openTarget();
	addEventListener("hashchange", openTarget);
})();
