// The pictures of a file of several: pages, frames or slices. Each is a file of its own, which is
// opened when it is shown first.
class Book {
  // file: PageFile; loops: how often frames are shown, 0 for without end; faults: damage of the
  // index, in words; pages: entry, role, size, duration or position, and renditions of each.
  constructor(file, {loops, faults, pages}) {
    if (!pages.length) throw new Error("the file holds no pictures");
    Object.assign(this, {file, loops, faults});
    this.pages = pages.map((facts, place) => new BookPage(this, facts, place, pages.length));
  }

  get count() {
    return this.pages.length;
  }

  // What the pictures are: "page" if they differ.
  get role() {
    const roles = new Set(this.pages.map(page => page.role));
    return roles.size === 1 ? [...roles][0] : "page";
  }

  get plays() {
    return this.role === "frame" && this.count > 1;
  }

  // Seconds that a frame is shown. Frames without a duration take a tenth, as in browsers.
  duration(place) {
    const {duration = 0} = this.pages[place];
    return duration > 0.01 ? duration : 0.1;
  }
}

// A picture of a book; it is opened as a PageFile is.
class BookPage {
  isMmp = true;

  constructor(book, facts, place, count) {
    Object.assign(this, facts, {book, place, count});
    const {file} = book;
    this.name = count === 1 ? file.name : `${file.name}: ${this.role} ${place + 1}`;
    this.about = count === 1 ? [] : [`${this.role} ${place + 1} of ${count}`];
    if (this.role === "frame") this.about.push(`${Number(this.duration.toPrecision(4))} s`);
    if (this.role === "slice") this.about.push(`at ${Number(this.position.toFixed(3))} mm`);
  }

  open(decoder) {
    return this.book.file.openEntry(this.entry, decoder);
  }

  facts(kind) {
    return this.book.file.facts(kind, this.entry);
  }

  // What a small drawing is made of: the smallest rendition that is large enough, or the picture.
  small(side) {
    const fits = this.renditions.filter(({width, height}) => Math.max(width, height) >= side);
    const found = fits.sort((a, b) => a.width * a.height - b.width * b.height)[0];
    return found ? new Rendition(this, found) : this;
  }
}

// A level or thumbnail of a page.
class Rendition {
  isMmp = true;

  constructor(page, facts) {
    Object.assign(this, facts, {page, name: page.name});
  }

  open(decoder) {
    return this.page.book.file.openEntry(this.entry, decoder);
  }
}

// Shows the frames of a book one after the other, each for its duration.
class Player {
  playing = false;
  #turn = 0; // of the timer; a new one replaces the old

  // ready: promise that a frame can be drawn; show: shows it; changed: playing has begun or ended.
  constructor({ready, show, changed}) {
    Object.assign(this, {ready, show, changed});
  }

  stop() {
    if (!this.playing) return;
    this.playing = false;
    this.#turn++;
    this.changed();
  }

  async play(book, first) {
    const turn = ++this.#turn, mine = () => this.#turn === turn;
    let rounds = book.loops || Infinity, place = first === book.count - 1 ? 0 : first;
    this.playing = true;
    this.changed();
    this.show(place);
    await this.ready(place);
    let due = performance.now();
    while (mine()) {
      due += 1000 * book.duration(place);
      const last = place === book.count - 1, next = last ? 0 : place + 1;
      const early = last && rounds === 1 ? null : this.ready(next);
      await new Promise(done => setTimeout(done, due - performance.now()));
      if (!mine()) return;
      if (last && --rounds === 0) return this.stop();
      await early;
      if (!mine()) return;
      due = Math.max(due, performance.now() - 100); // what was late is not caught up with
      this.show(place = next);
    }
  }
}
