// The figures as a page.

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Table } from "./compare.js";
import type { Size } from "./sizes.js";

export interface Figures {
  readonly sizes: readonly Size[];
  readonly node: readonly Table[];
  readonly workerd: readonly Table[];
}

const HEAD = readFileSync(new URL("head.md", import.meta.url), "utf8");

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function sizeTable(sizes: readonly Size[]): string {
  const head = ["", "what", "JavaScript", "gzip", "module", "gzip", "in all", "gzip"];
  const lines = sizes.map(({ by, what, js, wasm, all }) =>
    row([by, what, ...[js, wasm, all].flatMap(({ raw, gzip }) => [`${raw}`, `${gzip}`])]),
  );
  return [row(head), "| --- | --- |" + " ---: |".repeat(6), ...lines].join("\n");
}

/** A row's own overhead as a share of the peer's least. */
function share(table: Table, over: number, peer: string): string {
  const theirs = table.rows.filter(({ by }) => by === peer).map(({ over }) => over);
  return (over / Math.min(...theirs)).toFixed(2);
}

function costTable(table: Table): string {
  const head = ["", "what", "ns a call", "over bare, ns", "of cockatiel's", "of opossum's"];
  const lines = table.rows.map(({ by, what, cost, over }) => {
    const compared = by === "bare" ? ["", "", ""] : [over.toFixed(0)];
    if (by !== "bare")
      compared.push(share(table, over, "cockatiel"), share(table, over, "opossum"));
    return row([by, what, cost.toFixed(0), ...compared]);
  });
  const rule = "| --- | --- | ---: | ---: | ---: | ---: |";
  return `### ${table.title}\n\n${[row(head), rule, ...lines].join("\n")}`;
}

export function page({ sizes, node, workerd }: Figures): string {
  const machine = cpus()[0]?.model ?? "unknown";
  return [
    HEAD.trimEnd(),
    `Measured on: ${machine}, ${cpus().length} of them; Node ${process.versions.node}, V8 ${process.versions.v8}.`,
    "## What a bundle gains, in bytes",
    sizeTable(sizes),
    "## A call in Node",
    ...node.map(costTable),
    "## A call in workerd",
    ...workerd.map(costTable),
    "",
  ].join("\n\n");
}
