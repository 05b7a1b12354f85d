// The files of the page: in the page itself, at the server, or given by the reader.
class PageFile {
  // entry: what the page says of a file: its name, bytes, whether it is an mmp file, and addresses.
  constructor(entry, number) {
    Object.assign(this, entry, {number});
  }

  static async given(file) {
    const bytes = await file.slice(0, 10).arrayBuffer().catch(() => new ArrayBuffer(0));
    const head = new TextDecoder().decode(bytes.slice(0, 4)); // opening it tells the error
    const isOther = /^(.PNG|\ufffd{3}|RIFF)/.test(head); // PNG, JPEG, WebP
    const named = file.name.toLowerCase().endsWith(".mmp");
    const isMmp = head.endsWith("MMP") || (named && !isOther);
    const isBook = isMmp && new Uint8Array(bytes)[9] === 8; // in place of the form of a picture
    return new PageFile({name: file.name, bytes: file.size, isMmp, isBook, given: file}, null);
  }

  async open(decoder) {
    return decoder.open(this.given || (this.address ? this.#url(this.address) : this.#stored()));
  }

  async blob() {
    if (this.given) return this.given;
    if (!this.address) return new Blob([this.#stored()]);
    return (await this.#fetched(this.address)).blob();
  }

  // kind: "layers" or "regions"; entry: of a picture of a book.
  async facts(kind, entry) {
    if (this.given) throw new Error("Layers and regions are known of files that `mmp view` serves.");
    const of = mark => entry === undefined ? "" : mark + entry;
    if (this.factsAddresses) return (await this.#fetched(this.factsAddresses[kind] + of("/"))).json();
    const stored = document.getElementById(`facts-${this.number}${of("-")}`);
    if (!stored) throw new Error("The page was made without layers and regions.");
    return JSON.parse(stored.textContent);
  }

  // The book that the file is. Of files that are given, the decoder reads the index.
  async book(decoder) {
    if (this.given) {
      const {loops, pages, open} = await decoder.openBook(this.given);
      const entered = page => ({...page, entry: page, renditions: page.renditions.map(entered)});
      this.openGiven = open;
      return new Book(this, {loops, faults: [], pages: pages.map(entered)});
    }
    const stored = document.getElementById(`book-${this.number}`);
    return new Book(this, stored ? JSON.parse(stored.textContent)
      : await (await this.#fetched(this.bookAddress)).json());
  }

  // Opens a picture of the book.
  async openEntry(entry, decoder) {
    if (this.given) return this.openGiven(entry);
    if (this.address) return decoder.open(this.#url(`${this.address}/${entry}`));
    const problem = document.getElementById(`file-${this.number}-${entry}-problem`);
    if (problem) throw new Error(JSON.parse(problem.textContent));
    return decoder.open(storedBytes(`file-${this.number}-${entry}`));
  }

  #url(address) {
    return new URL(address, location.href).href;
  }

  async #fetched(address) {
    const answer = await fetch(this.#url(address));
    if (!answer.ok) throw new Error(`${this.name}: the server says ${await answer.text()}`);
    return answer;
  }

  #stored() {
    return storedBytes(`file-${this.number}`);
  }
}
