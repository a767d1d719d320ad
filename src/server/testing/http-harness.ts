/** The routes over a real graph in tests: requests within the process, with the owner as the credential. */
import { createHarness, type Harness, type HarnessOptions } from "#graphs/session/testing/harness.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { afterEach } from "vitest";
import type { Context } from "hono";
import { createRunningTurns } from "../limits.ts";
import { createHttpApp, type HttpAppOptions, type HttpLimits } from "../http-app.ts";
import { problemSchema, type Problem } from "../problem.ts";
import type { Identity } from "../auth/authenticator.ts";

/** Options of {@link httpHarnessStarter}'s function. */
export interface HttpHarnessOptions {
  readonly lily?: HarnessOptions;
  readonly app?: Partial<Omit<HttpAppOptions, "limits">>;
  readonly limits?: Partial<HttpLimits>;
}

/** A request of the tests. */
export interface TestRequest {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** `local` by default; `null` sends no credential. */
  readonly owner?: string | null;
}

/** Routes under test. */
export interface HttpHarness {
  readonly lily: Harness;
  readonly app: ReturnType<typeof createHttpApp>;
  readonly options: HttpAppOptions;
  /** What callers were not shown. */
  readonly reported: string[];
  /** `path` is what follows `/lily/v1`. */
  request(path: string, request?: TestRequest): Promise<Response>;
  post(path: string, body?: unknown, request?: TestRequest): Promise<Response>;
  /** The problem of an answer whose status says the same. */
  problem(path: string, request?: TestRequest): Promise<Problem>;
  /** Namespaces in which anything is stored. */
  stored(): Promise<string[][]>;
}

/** The owner that a test request is for. @throws {LilyError} `unauthenticated` */
async function authenticateTest({ req }: Context): Promise<Identity> {
  const owner = req.header("x-test-owner");
  if (owner === undefined)
    throw new LilyError("unauthenticated", "the request has no valid key or token", {});
  return { owner, id: req.header("x-test-login") ?? owner };
}

/** The problem that an answer holds. */
export async function problemIn(response: Response): Promise<Problem> {
  const text = await response.text();
  if (response.headers.get("content-type") !== "application/problem+json")
    throw new Error(`no problem, but ${response.status} ${text}`);
  const problem = problemSchema.parse(JSON.parse(text));
  if (problem.status !== response.status) throw new Error(`status ${response.status} says ${problem.status}`);
  return problem;
}

/** Registers the clean-up and gives the function that starts a harness. */
export function httpHarnessStarter(): (options?: HttpHarnessOptions) => Promise<HttpHarness> {
  let open: Harness[] = [];
  afterEach(async () => {
    for (const lily of open) await lily.close();
    open = [];
  });
  return async (options = {}) => {
    const lily = await createHarness(options.lily);
    open.push(lily);
    return overHarness(lily, options);
  };
}

function overHarness(lily: Harness, { app: overrides, limits }: HttpHarnessOptions): HttpHarness {
  const reported: string[] = [];
  const options: HttpAppOptions = {
    sessions: lily.sessions,
    limits: { bodyBytes: 8_000_000, requestsPerMinute: 0, turnsAtOnce: 0, ...limits },
    turns: createRunningTurns(limits?.turnsAtOnce ?? 0),
    isDraining: () => false,
    corsOrigins: [],
    authenticate: authenticateTest,
    report: (detail) => reported.push(detail),
    ...overrides,
  };
  const app = createHttpApp(options);
  const request: HttpHarness["request"] = async (
    path,
    { method = "GET", body, headers, owner = "local" } = {},
  ) =>
    app.request(`/lily/v1${path}`, {
      method,
      headers: {
        ...(owner === null ? {} : { "x-test-owner": owner }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    lily,
    app,
    options,
    reported,
    request,
    post: (path, body, rest = {}) => request(path, { ...rest, method: "POST", body }),
    problem: async (path, sent) => problemIn(await request(path, sent)),
    stored: () => lily.storage.store.listNamespaces({ limit: 100 }),
  };
}

/** One event of a stream. */
export interface StreamedEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The events in the text of a stream; comments are left out. */
export function eventsIn(text: string): StreamedEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => {
      const [event = "", data = ""] = block.split("\n");
      return {
        event: event.slice("event: ".length),
        data: JSON.parse(data.slice("data: ".length)) as Record<string, unknown>,
      };
    });
}
