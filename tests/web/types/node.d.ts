// What the decoder takes from Node.
declare const process: unknown;
declare module "node:fs/promises" {
  export function readFile(url: URL): Promise<Uint8Array>;
}
declare module "node:worker_threads" {
  interface Port {
    on(name: string, listener: (value: any) => void): void;
    postMessage(message: object, transfer: ArrayBuffer[]): void;
  }
  export class Worker implements Port {
    constructor(url: URL);
    on(name: string, listener: (value: any) => void): void;
    postMessage(message: object, transfer: ArrayBuffer[]): void;
    terminate(): Promise<number>;
    ref(): void;
    unref(): void;
  }
  export const parentPort: Port | null;
}
