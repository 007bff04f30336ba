import { rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { atFileEnd } from './at-file-end.ts';
import { buildApp } from '../../src/app/http-server.ts';
import { loadConfig } from '../../src/config.ts';
import type { Deps } from '../../src/app/deps.ts';
import { buildDeps } from '../../src/app/build-deps.ts';
import type { App } from '../../src/platform/http/app-type.ts';
import { systemClock, type Clock } from '../../src/platform/lib/time/clock.ts';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';
import type { OrgId } from '../../src/platform/lib/org-id.ts';
import { createKey } from '../../src/platform/orgs/keys.ts';
import { operatorOf, scopes, type Scope } from '../../src/platform/http/caller.ts';
import { createOrganization } from '../../src/app/bootstrap.ts';
import { createBodyReader } from '../../src/detection/shippers/body-reader.ts';
import { createRuleConverter } from '../../src/detection/sigma/convert/convert-request.ts';
import { createExtractor } from '../../src/feed/ingestion/extractor.ts';
import { createParser } from '../../src/feed/sources/documents/parser.ts';
import { pullClaimedSource } from '../../src/feed/sources/pull/pull-source.ts';
import type { RunPull } from '../../src/feed/sources/pull/start-pulls.ts';
import { testDatabase } from './database.ts';
import { newProgramDir } from './program.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'PATCH';
// Tests read responses without types. A wrong assumption fails the test's expectation.
type Json = ReturnType<typeof JSON.parse>;
export type ApiResponse = {
  status: number;
  body: Json;
  headers: Record<string, string | string[] | number | undefined>;
};
export type TestOrg = {
  id: OrgId;
  name: string;
  key: string;
  call: (method: Method, url: string, body?: unknown, headers?: Record<string, string>) => Promise<ApiResponse>;
};
export type TestApp = {
  app: App;
  deps: Deps;
  url: string;
  dataDir: string;
  newOrg: (granted?: readonly Scope[]) => Promise<TestOrg>;
  newKey: (org: TestOrg, granted: readonly Scope[]) => Promise<TestOrg>;
};

/** Threads that read texts have a low priority. Where other processes are busy, they take many times as long. */
const textMaxMs = 240_000;

const openThreads = (dataDir: string) => ({
  extractor: createExtractor(dataDir, textMaxMs),
  parser: createParser(dataDir),
  bodyReader: createBodyReader(),
  ruleConverter: createRuleConverter(),
});

/** Shared by the apps of a test process, because they load modules and lists for longer than most tests take. */
const sharedThreads = openThreads(newProgramDir());

/** Starts the whole program with its own database and data directory. `clock` and any other dependency can be replaced. */
export async function startApp(
  options: { clock?: Clock; env?: Record<string, string>; deps?: Partial<Deps> } = {},
): Promise<TestApp> {
  const { db, url } = await testDatabase();
  const dataDir = newDataDir();
  const config = loadConfig({
    TOCSIN_LOG_LEVEL: 'error',
    TOCSIN_DATA_DIR: dataDir,
    TOCSIN_SPREAD_SECONDS: '0',
    ...options.env,
  });
  const { clock = systemClock } = options;
  const built = buildDeps({ config, db, log: createLogger(config.logLevel), clock });
  // A given directory can have lists of its own. Idle threads do not keep the process.
  const isGiven = options.env?.['TOCSIN_DATA_DIR'] !== undefined;
  const { parser, ...threads } = isGiven ? openThreads(config.dataDir) : sharedThreads;
  // In this thread, so that pulls follow the test's clock. The tests of pull-threads.ts and of the process use threads.
  const runPull: RunPull = (source, pullOptions) => pullClaimedSource({ ...deps, parser }, source, pullOptions);
  // Functions of the dependencies use this object.
  const deps: Deps = Object.assign(built.deps, { runPull, ...threads }, options.deps);
  const { app, release } = releasable(await buildApp(deps));
  await app.ready();
  atFileEnd(async () => {
    await app.close();
    await built.stop();
    release();
    for (const closed of [deps, built]) for (const key of Object.keys(closed)) Reflect.deleteProperty(closed, key);
  });
  const newKey = async (org: Pick<TestOrg, 'id' | 'name'>, granted: readonly Scope[]): Promise<TestOrg> => {
    const caller = operatorOf(org.id);
    const { key } = await createKey(deps, caller, { name: 'test', scopes: [...granted] });
    return { id: org.id, name: org.name, key: key!, call: callWith(app, key!) };
  };
  return {
    app,
    deps,
    url,
    dataDir: config.dataDir,
    newKey,
    newOrg: async (granted = scopes) =>
      newKey(await createOrganization(deps, `org-${randomBytes(5).toString('hex')}`), granted),
  };
}

/**
 * Returns an object that passes everything on to an app until `release` is called. Test files stay loaded until their process ends, and with them what
 * they refer to: eight megabytes for each app.
 */
function releasable(app: App): { app: App; release: () => void } {
  const held: { app?: App } = { app };
  const get = (_: App, key: string | symbol): unknown => {
    const value: unknown = held.app && Reflect.get(held.app, key, held.app);
    return typeof value === 'function' ? value.bind(held.app) : value;
  };
  return { app: new Proxy({} as App, { get }), release: () => void delete held.app };
}

/** Creates an empty directory for this test file and removes it afterwards. */
export function newDataDir(): string {
  const dir = newProgramDir();
  atFileEnd(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function callWith(app: App, key: string): TestOrg['call'] {
  return async (method, url, body, headers = {}) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const response = await app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${key}`, ...type, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const isJson = /[/+]json\b/.test(String(response.headers['content-type'] ?? ''));
    return {
      status: response.statusCode,
      body: isJson && response.payload ? response.json() : response.payload,
      headers: response.headers,
    };
  };
}
