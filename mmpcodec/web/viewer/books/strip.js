// The list of the pages of a book: a button with a small drawing for each. Of a long book there are
// those around the page that is shown.
class Strip {
  static SIDE = 96; // pixels of the longer side of a small drawing
  static MOST = 120; // buttons
  static LARGEST = 2 ** 25; // pixels of a picture that is decoded for a small drawing
  #book = null;
  #first = 0;
  #drawn = new Map(); // canvases by page
  #waiting = []; // pages whose drawing is wanted, the last one first
  #busy = false;

  // box: element that holds the buttons; open: opens a page's small picture; choose: shows a page.
  constructor(box, {open, choose}) {
    Object.assign(this, {box, open, choose});
    this.seen = new IntersectionObserver(entries => {
      for (const {isIntersecting, target} of entries) if (isIntersecting) this.#want(target.page);
    }, {root: box, rootMargin: "0px 200px"});
    box.addEventListener("keydown", event => this.#key(event));
  }

  // Shows the list of a book, null for none, with a page marked.
  show(book, place) {
    this.box.hidden = !book;
    if (!book) return;
    const most = Strip.MOST, {count} = book;
    const inside = place >= this.#first && place < this.#first + most;
    if (book !== this.#book || !inside) {
      this.#book = book;
      this.#first = Math.max(0, Math.min(place - most / 2, count - most));
      this.#fill();
    }
    this.#mark(place);
  }

  #fill() {
    this.seen.disconnect();
    this.#waiting.length = 0;
    const pages = this.#book.pages.slice(this.#first, this.#first + Strip.MOST);
    const kept = new Set(pages);
    for (const page of this.#drawn.keys()) if (!kept.has(page)) this.#drawn.delete(page);
    this.box.replaceChildren(...pages.map(page => this.#button(page)));
    for (const button of this.box.children) this.seen.observe(button);
  }

  #button(page) {
    const button = document.createElement("button"), label = document.createElement("span");
    label.textContent = page.place + 1;
    button.page = page;
    button.tabIndex = -1;
    button.setAttribute("aria-label", `${page.role} ${page.place + 1}`);
    const shape = Strip.SIDE / Math.max(page.width, page.height), canvas = this.#drawn.get(page);
    const box = canvas || document.createElement("canvas");
    if (!canvas) {
      box.width = Math.max(1, Math.round(page.width * shape));
      box.height = Math.max(1, Math.round(page.height * shape));
    }
    button.append(box, label);
    button.onclick = () => this.choose(page.place);
    return button;
  }

  #mark(place) {
    for (const button of this.box.children) {
      const here = button.page.place === place;
      if (here === button.hasAttribute("aria-current")) continue;
      if (!here) button.removeAttribute("aria-current");
      else button.setAttribute("aria-current", "page");
      button.tabIndex = here ? 0 : -1;
      if (here) this.#reveal(button);
    }
  }

  // Without moving the page, as scrollIntoView does.
  #reveal({offsetLeft, offsetWidth}) {
    const {box} = this, {scrollLeft, clientWidth} = box;
    if (offsetLeft < scrollLeft) box.scrollLeft = offsetLeft - 8;
    else if (offsetLeft + offsetWidth > scrollLeft + clientWidth)
      box.scrollLeft = offsetLeft + offsetWidth - clientWidth + 8;
  }

  #key(event) {
    const last = this.#book.count - 1, place = document.activeElement.page?.place;
    const next = {
      ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: last,
      PageDown: place + 1, PageUp: place - 1,
    }[event.key];
    if (place === undefined || next === undefined || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    this.choose(Math.min(last, Math.max(0, next)));
    this.box.querySelector("[aria-current]")?.focus({preventScroll: true});
  }

  #want(page) {
    if (this.#drawn.has(page)) return;
    this.#waiting.push(page);
    this.#work();
  }

  // One at a time, so that the picture itself does not wait.
  async #work() {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#waiting.length) {
      const page = this.#waiting.pop(), button = this.#buttonOf(page), small = page.small(Strip.SIDE);
      if (!button || this.#drawn.has(page) || small.width * small.height > Strip.LARGEST) continue;
      try {
        this.#draw(button, await this.open(small));
        this.#drawn.set(page, button.querySelector("canvas"));
      } catch {
        button.classList.add("broken"); // the page itself says why
        this.#drawn.set(page, button.querySelector("canvas"));
      }
    }
    this.#busy = false;
  }

  #buttonOf(page) {
    return [...this.box.children].find(button => button.page === page);
  }

  // drawing: width and height of the upright picture, and paint(pen, scale).
  #draw(button, {width, height, paint}) {
    const canvas = button.querySelector("canvas"), scale = Strip.SIDE / Math.max(width, height);
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    const pen = canvas.getContext("2d");
    pen.imageSmoothingQuality = "high";
    paint(pen, scale);
  }
}
