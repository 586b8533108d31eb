/**
 * What is used of Cloudflare's platform, by its shape: so no package of types is needed, and any of
 * theirs fits.
 */

/** The binding of a Durable Object class, like `env.BREAKERS`. */
export interface ObjectNamespace {
  idFromName(name: string): ObjectId;
  get(id: ObjectId): ObjectStub;
}

export interface ObjectId {
  toString(): string;
}

export interface ObjectStub {
  fetch(url: string, init: ObjectRequest): Promise<ObjectAnswer>;
}

export interface ObjectRequest {
  method: string;
  body: string;
  signal: AbortSignal;
}

export interface ObjectAnswer {
  readonly ok: boolean;
  readonly status: number;
  text(): Promise<string>;
}

/** What a Durable Object is made with. */
export interface ObjectState {
  readonly storage: ObjectStorage;
}

export interface ObjectStorage {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
}

/** The context of a request: its third parameter in a worker. */
export interface RequestContext {
  waitUntil(promise: Promise<unknown>): void;
}
