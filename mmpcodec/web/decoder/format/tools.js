// The fields of tools. Source: sections "Layers" and "Tool sets" of docs/format/format.md. A test
// compares the tables with mmpcodec/tools.py.
import { CorruptStream } from "../errors.js";

/** @typedef {import("./numbers.js").Fields} Fields */
/** @typedef {Record<string, number>} ToolValues */
/**
 * Name, least and largest value in a file, the allowed values if they are not all of these, and
 * the bits of the tool in switches, if it is there.
 * @typedef {{ name: string, low: number, high: number, values?: number[], bits?: number }} Tool
 */

export const [TREES, BLOCKS, LOSSLESS, PALETTE] = [0, 1, 2, 3];
export const CODING_NAMES = ["trees", "predicted blocks", "lossless samples"];

/** @param {string} name @returns {Tool} */
const flag = (name) => ({ name, low: 0, high: 1, bits: 1 });

/** @type {Tool[]} */
export const TREE_TOOLS = [
  flag("partition"),
  flag("index_classes"),
  flag("flag_contexts"),
  { name: "copy_radius", low: 0, high: 8 },
  { name: "dictionary_limit", low: 256, high: 65536 },
  { name: "displaced_blocks", low: 0, high: 4 },
  { name: "redundancy_radius", low: 0, high: 65535 },
  flag("replacement"),
];

/** @type {Tool} */
export const FIXED_FILTERS = { name: "fixed_filters", low: 0, high: 16383 };

/** @type {Tool[]} */
export const BLOCK_TOOLS = [
  { name: "fragment_size", low: 16, high: 64, values: [16, 32, 64], bits: 2 },
  { name: "templates", low: 0, high: 4, bits: 3 },
  { name: "step", low: 1, high: 65535 },
  flag("dictionary"),
  flag("pdpc"),
  flag("initial_states"),
  { name: "cross_component", low: 0, high: 2, bits: 2 },
  FIXED_FILTERS,
  flag("dependent"),
  flag("ternary"),
  flag("fine_contexts"),
  flag("delta_step"),
  flag("trained_transforms"),
  flag("border_sines"),
  flag("transform_skip"),
  { name: "quantisation_matrix", low: 0, high: 15, bits: 4 },
];

/** @type {Tool} */
export const LOSSLESS_FORM = { name: "lossless_form", low: 1, high: 3 };

/** @type {Tool[]} */
export const LOSSLESS_TOOLS = [LOSSLESS_FORM, { name: "max_error", low: 0, high: 32767 }];

/** @param {Tool} tool */
const title = (tool) => tool.name.replaceAll("_", " ");

/**
 * Reads the value of a tool.
 * @param {Fields} fields
 * @param {Tool} tool
 */
export const readTool = (fields, tool) => fields.number(title(tool), tool.low, tool.high);

/**
 * Reads the number that holds several tools, the lowest bits first.
 * @param {Fields} fields
 * @param {Tool[]} tools those without bits are not in it
 */
function readSwitches(fields, tools) {
  const own = tools.filter((tool) => tool.bits);
  const at = fields.offset;
  const sum = own.reduce((bits, tool) => bits + (tool.bits ?? 0), 0);
  let left = fields.number("switches", 0, 2 ** sum - 1);
  /** @type {ToolValues} */
  const values = {};
  for (const tool of own) {
    const count = 2 ** (tool.bits ?? 0);
    const value = left % count;
    left = Math.floor(left / count);
    const most = tool.values ? tool.values.length - 1 : tool.high - tool.low;
    if (value > most) {
      throw new CorruptStream(
        fields.section,
        `${title(tool)} in switches is ${value}, allowed is 0 to ${most}`,
        at,
      );
    }
    values[tool.name] = tool.values ? tool.values[value] : value + tool.low;
  }
  return values;
}

/**
 * Reads the lossless form of the numbers of a palette.
 * @param {Fields} fields
 * @returns {ToolValues}
 */
export const readForm = (fields) => ({
  [LOSSLESS_FORM.name]: readTool(fields, LOSSLESS_FORM),
  max_error: 0,
});

/**
 * Reads the tools of a coding; tools that it lacks are not among them.
 * @param {Fields} fields
 * @param {number} coding
 * @returns {ToolValues}
 */
export function readTools(fields, coding) {
  /** @type {ToolValues} */
  const values = coding === BLOCKS ? readSwitches(fields, BLOCK_TOOLS) : {};
  if (coding === BLOCKS) {
    for (const tool of BLOCK_TOOLS) {
      if (!tool.bits) values[tool.name] = readTool(fields, tool);
    }
  }
  if (coding === LOSSLESS) {
    for (const tool of LOSSLESS_TOOLS) values[tool.name] = readTool(fields, tool);
  }
  if (coding === TREES || values.dictionary) {
    for (const tool of TREE_TOOLS) values[tool.name] = readTool(fields, tool);
  }
  return values;
}

/**
 * Returns the values of tools in the order of a table, 0 for those that the coding lacks.
 * @param {ToolValues} values
 * @param {Tool[]} tools
 */
export const inOrder = (values, tools) => tools.map((tool) => values[tool.name] ?? 0);
