// The package as npm packs it, installed in a folder of its own as a user's.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const packageRoot = fileURLToPath(new URL("../..", import.meta.url));
export const workspace = fileURLToPath(new URL("../../..", import.meta.url));

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

function pack(...options: string[]): Packed {
  const json = execFileSync("npm", ["pack", "--json", "--ignore-scripts", ...options], {
    cwd: packageRoot,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [packed] = JSON.parse(json) as Packed[];
  if (packed === undefined) throw new Error(`npm packed nothing: ${json}`);
  return packed;
}

/** The paths of what the package has in it. */
export function packedFiles(): string[] {
  return pack("--dry-run").files.map(({ path }) => path);
}

/** A project with nothing in it but the package. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "breaker-wasm-"));

  constructor() {
    const { filename } = pack("--pack-destination", this.folder);
    this.write("package.json", JSON.stringify({ private: true, type: "module" }));
    // Offline: it depends on nothing.
    this.run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", join(".", filename));
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs a program in the folder; what it says. Throws with all of that if it fails. */
  run(program: string, ...args: string[]): string {
    try {
      return execFileSync(program, args, { cwd: this.folder, encoding: "utf8", stdio: "pipe" });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
