/** The page: what its parts are, and who hears of what. */

import type { CircuitBreaker } from "breaker-wasm";
import { Behaviours } from "./behaviours.js";
import { rust, typescript } from "./code.js";
import { Cost } from "./cost.js";
import { Dependency, randomFrom } from "./dependency.js";
import { Diagram } from "./diagram.js";
import { byId, make, mark, say, within } from "./dom.js";
import { START } from "./form.js";
import { Log } from "./log.js";
import { NumberInput } from "./number.js";
import { OptionControls } from "./options.js";
import { Player } from "./player.js";
import { FATES, Simulation } from "./simulation.js";
import { Timeline } from "./timeline.js";
import { world } from "./timers.js";
import { MEANS, STATE, progress, seconds } from "./words.js";

const SPEEDS = [0.25, 0.5, 1, 2, 5, 10, 20] as const;
const START_RATE = 5;

/** Where less motion is wanted, the picture changes only so often, in milliseconds. */
const STILL = 500;

const OPERATIONS: Record<string, (breaker: CircuitBreaker) => void> = {
  close: (breaker) => breaker.close(),
  openFor: (breaker) => breaker.openFor("10s"),
  forceOpen: (breaker) => breaker.forceOpen(),
  disable: (breaker) => breaker.disable(),
  shadow: (breaker) => breaker.shadow(),
};

let lastDrawn = 0;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const dependency = new Dependency(world, randomFrom(1));
const simulation = new Simulation(world, dependency, START);
const diagram = new Diagram(byId("diagram"));
const behaviours = new Behaviours(dependency, draw);
const cost = new Cost();
const log = new Log();
const timeline = new Timeline(byId("timeline"), draw);
const shown = showCode();
const player = new Player(world, () => {
  if (!calm.matches || !player.playing || performance.now() - lastDrawn >= STILL) {
    draw();
  }
});

const options = new OptionControls(
  (form) => simulation.use(form),
  () => {
    diagram.label(simulation.form);
    showOptions();
  },
);
simulation.changed = (change) => log.add(world.now, change);
diagram.label(simulation.form);
showOptions();
connect();

function connect(): void {
  const play = byId<HTMLButtonElement>("play");
  player.playing = !calm.matches && !new URLSearchParams(location.search).has("paused");
  play.addEventListener("click", () => {
    player.playing = !player.playing;
  });
  byId("step").addEventListener("click", () => player.step(() => world.now + 1000));
  byId("next").addEventListener("click", () => player.step(() => simulation.nextCall ?? world.now));
  byId("restart").addEventListener("click", () => {
    simulation.restart(simulation.form);
    dependency.restart();
    log.clear();
  });
  byId("call").addEventListener("click", () => simulation.call());

  const speed = byId<HTMLInputElement>("speed");
  const setSpeed = () => {
    player.speed = SPEEDS[speed.valueAsNumber] ?? 1;
    speed.setAttribute("aria-valuetext", `${player.speed} times`);
    say(within(speed.parentElement!, "output"), `${player.speed}×`);
  };
  speed.addEventListener("input", setSpeed);
  setSpeed();

  const rate = new NumberInput(
    { id: "rate-field", label: "Calls a second", min: 0, max: 30, step: 1 },
    START_RATE,
    (value) => {
      const legal = value >= 0 && value <= 100;
      rate.error = legal ? "" : "expected a number from 0 to 100";
      if (legal) {
        simulation.rate = value;
      }
    },
  );
  byId("rate").append(rate.element);
  simulation.rate = START_RATE;

  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-operate]")) {
    const operation = OPERATIONS[button.dataset["operate"] ?? ""];
    button.addEventListener("click", () => operation && simulation.operate(operation));
  }
}

function showCode(): { typescript: HTMLElement; rust: HTMLElement } {
  const block = (name: string, title: string) => {
    const code = make("code", { id: name });
    const region = { tabindex: 0, role: "region", "aria-label": `${title} code` };
    const copy = make("button", { type: "button" }, "Copy");
    copy.addEventListener("click", () => {
      navigator.clipboard.writeText(code.textContent).then(
        () => say(copy, "Copied"),
        () => say(copy, "Not allowed"),
      );
    });
    copy.addEventListener("blur", () => say(copy, "Copy"));
    copy.setAttribute("aria-label", `Copy the ${title} code`);
    byId("code").append(
      make("div", { class: "code" }, make("h3", {}, title), copy, make("pre", region, code)),
    );
    return code;
  };
  return { typescript: block("typescript", "TypeScript"), rust: block("rust", "Rust") };
}

function showOptions(): void {
  say(shown.typescript, typescript(options.form));
  say(shown.rust, rust(options.form));
}

function draw(): void {
  lastDrawn = performance.now();
  const { state } = simulation;
  mark(document.body, "data-state", state);
  say(byId("clock"), seconds(world.now));
  say(byId("play"), player.playing ? "Pause" : "Play");
  byId<HTMLButtonElement>("next").disabled = simulation.rate === 0;
  const now = byId("now");
  say(within(now, "b"), STATE[state]);
  say(now.lastElementChild!, progress(simulation));
  const headline = byId("headline");
  say(within(headline, "b"), `${STATE[state]}.`);
  say(within(headline, "span"), MEANS[state]);
  say(byId("said"), simulation.said || "nothing yet");
  say(byId("waiting"), String(simulation.guarded.waiting));
  say(byId("calls"), String(FATES.reduce((sum, fate) => sum + simulation.counts[fate], 0)));
  behaviours.draw();
  diagram.draw(simulation);
  timeline.draw(simulation);
  cost.draw(simulation);
}
