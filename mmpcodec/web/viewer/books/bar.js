// The controls of the pages of a book: number, slider, list, and a button that plays frames.
class BookBar {
  #at = id => document.getElementById(id);
  #book = null;

  // choose: shows a page; play: begins and ends playing; strip: the list; resized: the controls
  // have another height.
  constructor({choose, play, strip, resized}) {
    Object.assign(this, {strip, resized});
    const on = (id, kind, action) => this.#at(id).addEventListener(kind, action);
    on("page-back", "click", () => choose(this.place - 1));
    on("page-next", "click", () => choose(this.place + 1));
    on("page-slider", "input", () => choose(this.#at("page-slider").value - 1));
    on("page", "change", () => {
      const wanted = Number(this.#at("page").value);
      choose(Number.isInteger(wanted) && wanted >= 1 ? wanted - 1 : this.place);
      this.#at("page").value = this.place + 1;
    });
    on("play", "click", play);
    on("list", "change", () => {
      this.#list();
      resized();
    });
  }

  // Shows a page of a book; null hides the controls.
  show(book, place) {
    const isOther = book !== this.#book;
    this.#at("book").hidden = !book;
    if (book && isOther) this.#begin(book);
    Object.assign(this, {place});
    this.#book = book;
    this.#list();
    if (isOther) this.resized();
    if (!book) return;
    for (const id of ["page", "page-slider"])
      if (this.#at(id) !== document.activeElement || id === "page-slider")
        this.#at(id).value = place + 1;
    this.#at("page-back").disabled = place === 0;
    this.#at("page-next").disabled = place === book.count - 1;
  }

  #begin({role, count, plays, faults}) {
    const title = role[0].toUpperCase() + role.slice(1);
    this.#at("page-role").textContent = title;
    this.#at("page-count").textContent = `of ${count}`;
    this.#at("book").setAttribute("aria-label", `${title}s`);
    this.#at("strip").setAttribute("aria-label", `List of ${role}s`);
    this.#at("page-slider").setAttribute("aria-label", title);
    this.#at("page-back").setAttribute("aria-label", `Previous ${role}`);
    this.#at("page-next").setAttribute("aria-label", `Next ${role}`);
    for (const id of ["page", "page-slider"]) this.#at(id).max = count;
    this.#at("play").hidden = !plays;
    this.#at("list").checked = role === "page";
    this.#at("book-fault").hidden = !faults.length;
    this.#at("book-fault").textContent = faults.length
      ? `The index of the file is damaged, its pictures were found one by one: ${faults[0]}` : "";
  }

  #list() {
    this.strip.show(this.#at("list").checked ? this.#book : null, this.place);
  }

  plays(playing) {
    this.#at("play").setAttribute("aria-pressed", playing);
    this.#at("play").textContent = playing ? "Pause" : "Play";
  }
}
