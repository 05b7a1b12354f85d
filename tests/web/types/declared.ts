// What the scripts export fits the types that index.d.ts declares, where the scripts say as much.
import * as scripts from "../../../mmpcodec/web/decoder/index.js";
import type * as declared from "../../../mmpcodec/web/index";

type Result<T extends (...given: any[]) => any> = Awaited<ReturnType<T>>;

declare const decoded: Result<typeof scripts.decode>;
export const samples: Pick<declared.Decoded, "width" | "height" | "depth" | "samples"> = decoded;

declare const picture: Result<typeof scripts.open>;
export const opened: Pick<declared.Picture, "width" | "height" | "traffic" | "tilesTouching" | "jpegFile"> =
  picture;
export const header: Omit<declared.Header, "form" | "planes" | "version" | "metadata"> =
  picture.header;

declare const settings: declared.Settings;
export const decoder: Pick<declared.Decoder, "close"> = scripts.createDecoder(settings);

declare const options: declared.DecodeOptions;
declare const file: declared.File;
scripts.decode(file, options);
declare const kept: Result<typeof scripts.jpegFile>;
export const jpeg: Result<declared.Decoder["jpegFile"]> = kept;
declare const metadata: Result<declared.Picture["metadata"]>;
export const icc: typeof metadata.icc = (await picture.metadata()).icc;
