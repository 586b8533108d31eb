// What the page keeps of what it was told, however long it is open.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Circuits, type Document } from "../../../../../src/status_page/page/circuits.js";

/** A name that leaves and the next one that comes, each with a circuit; `process` says the rest. */
function said(version: number, gone: string[], ...told: [id: string, name: string][]): Document {
  const names = [...new Set(told.map(([, name]) => name))];
  return {
    format: 1,
    title: "test",
    process: "p",
    version,
    now: version * 1000,
    complete: version === 1,
    refresh_ms: 1000,
    rates_seconds: 60,
    actions: [],
    breakers: names.map((name) => ({
      name,
      place: "src/lib.rs:1",
      max_keys: name === "hosts" ? 100 : null,
      settings: {},
      declared: null,
    })),
    circuits: told.map(([id, name]) => ({
      id,
      breaker: name,
      key: name === "hosts" ? `key-${id}` : null,
      state: "closed",
      generation: 0,
      since: null,
      why: null,
      trigger: null,
      by: null,
      next_probe: null,
      failures: 0,
      reopenings: 0,
      would: null,
      recent: [],
      rates: { calls: 0, failed: 0, refused: 0, stale: 0 },
    })),
    gone,
  };
}

test("breakers that live for one client each leave nothing", () => {
  const circuits = new Circuits();
  circuits.take(said(1, [], ["1", "stays"]));
  for (let client = 2; client < 1000; client++) {
    const before = client === 2 ? [] : [String(client - 1)];
    circuits.take(said(client, before, [String(client), `client-${client}`]));
    assert.equal(circuits.known.size, 2);
    assert.deepEqual([...circuits.breakers.keys()], ["stays", `client-${client}`]);
  }
});

test("what has the name of one that left is another's", () => {
  const circuits = new Circuits();
  circuits.take(said(1, [], ["1", "pms"]));
  const next = said(2, ["1"], ["2", "pms"]);
  // It is what it was, and so isn't told again.
  next.breakers = [];
  circuits.take(next);
  assert.deepEqual([...circuits.breakers.keys()], ["pms"]);
});

test("a breaker by key stays when its keys are given up", () => {
  const circuits = new Circuits();
  circuits.take(said(1, [], ["1", "hosts"]));
  circuits.take(said(2, ["1"]));
  assert.deepEqual([...circuits.breakers.keys()], ["hosts"]);
  assert.equal(circuits.known.size, 0);
});
