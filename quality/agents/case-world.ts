import { buildApp } from '../../src/app/http-server.ts';
import type { Deps } from '../../src/app/deps.ts';
import { buildDeps } from '../../src/app/build-deps.ts';
import { loadConfig } from '../../src/config.ts';
import { createClient, sendEvents, type DemoClient } from '../../src/demo/client.ts';
import type { LogEvent } from '../../src/demo/company/shapes.ts';
import { getLibraryEntry } from '../../src/detection/library/load-library.ts';
import { executeDueRuns } from '../../src/detection/runs/workers/run-loops.ts';
import { openDb } from '../../src/platform/db/db.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';
import type { OrgId } from '../../src/platform/lib/org-id.ts';
import { createOrganizationWithKey } from '../../test/support/api-client.ts';
import { withDataDir } from '../../test/support/program-environment.ts';
import { runStatements } from '../../test/support/run-statements.ts';
import {
  readCaseDetections,
  readKnowledge,
  type AgentCase,
  type CaseDetection,
  type CompanyKnowledge,
  type CompanyName,
} from './case-table.ts';
import { investigatedAt, listCompanyLogs, plantedAddress, plantedTextOf } from './company-logs.ts';
import { serveLookups, type Lookups } from './lookup-servers.ts';

/** The model alias of every detection, and that of the verifier. */
export const caseAlias = 'investigator';
export const verifierAlias = 'verifier';

export const lookupTools = ['records__find', 'intel__whois', 'http_get'];
const toolNames = [
  'list_datasets',
  'describe_dataset',
  'search_logs',
  'count_by',
  'entity_profile',
  'related_hits',
  'lookup_indicator',
  ...lookupTools,
];

export type Company = { orgId: OrgId; key: string; detections: Map<string, string> };
/** A program on a copy of the prepared database. `callAs` calls the API as a company. */
export type CaseProgram = { deps: Deps; callAs: (company: CompanyName) => DemoClient };
export type CaseWorld = {
  companies: ReadonlyMap<CompanyName, Company>;
  /** The address that `http_get` may fetch. */
  lookupUrl: string;
  /** Runs `work` in a program of its own, with the given models, on a copy of the database as the companies left it. */
  withProgram: <T>(models: Record<string, unknown>, work: (program: CaseProgram) => Promise<T>) => Promise<T>;
};

type Place = { dir: string; settings: Record<string, string>; log: (line: string) => void };

/**
 * Prepares the companies of the cases: their logs, detections, knowledge and past. Then runs `work`. Everything is the real program on PostgreSQL and
 * the log store. Each program that `work` starts has a database of its own, so that no investigation sees what another one left.
 */
export async function withCaseWorld<T>(
  cases: readonly AgentCase[],
  log: (line: string) => void,
  work: (world: CaseWorld) => Promise<T>,
): Promise<T> {
  return withDataDir(async (dir) => {
    const lookups = await serveLookups(cases);
    const server = await startEmbeddedPostgres({ dataDir: dir, exclusive: false, log: () => undefined });
    const base = new URL(server.url);
    const template = base.pathname.slice(1);
    const maintenance = new URL('/postgres', base).href;
    const place: Place = { dir, settings: lookups.settings, log };
    let copies = 0;
    try {
      await migrate(server.url);
      const companies = new Map<CompanyName, Company>();
      await withProgramOn(place, server.url, {}, (program) => prepare(program, { companies, cases, lookups, log }));
      return await work({
        companies,
        lookupUrl: lookups.url,
        withProgram: async (models, run) => {
          const name = `cases_${(copies += 1)}`;
          await runStatements(maintenance, `create database ${name} template "${template}" strategy file_copy`);
          return withProgramOn(place, new URL(`/${name}`, base).href, models, ({ deps, address }) =>
            run({ deps, callAs: (company) => createClient(address, companies.get(company)!.key) }),
          );
        },
      });
    } finally {
      await server.stop();
      await lookups.close();
    }
  });
}

/** The alias must exist when detections name it, but no case is judged while the companies are prepared. */
const absentModel = {
  provider: 'openai',
  api: 'chat',
  model: 'none',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: 'none',
  price: { inputPerMillion: 0, outputPerMillion: 0 },
};

type OpenProgram = { deps: Deps; address: string };

async function withProgramOn<T>(
  { dir, settings }: Place,
  databaseUrl: string,
  models: Record<string, unknown>,
  work: (program: OpenProgram) => Promise<T>,
): Promise<T> {
  const config = loadConfig({
    TOCSIN_DATA_DIR: dir,
    TOCSIN_LOG_LEVEL: 'error',
    TOCSIN_SPREAD_SECONDS: '0',
    TOCSIN_MODELS: JSON.stringify({ [caseAlias]: absentModel, ...models }),
    ...settings,
  });
  const db = openDb(databaseUrl);
  const { deps, stop } = buildDeps({ config, db, log: createLogger('error'), clock: () => investigatedAt });
  const app = await buildApp(deps);
  try {
    return await work({ deps, address: await app.listen({ host: '127.0.0.1', port: 0 }) });
  } finally {
    await app.close();
    await stop();
    await db.destroy();
  }
}

type Preparation = {
  companies: Map<CompanyName, Company>;
  cases: readonly AgentCase[];
  lookups: Lookups;
  log: (line: string) => void;
};

async function prepare({ deps, address }: OpenProgram, { companies, cases, lookups, log }: Preparation): Promise<void> {
  const definitions = readCaseDetections();
  const knowledge = readKnowledge();
  for (const name of new Set(cases.map(({ company }) => company))) {
    const { id: orgId, key } = await createOrganizationWithKey(deps, name);
    const call = createClient(address, key);
    const planted = cases.filter(({ kind, company }) => kind === 'planted' && company === name);
    const events = listCompanyLogs(name, planted).toSorted((a, b) => a.at.getTime() - b.at.getTime());
    // Weeks, so that a query over a past hour reads few events and a call has many.
    for (const week of splitByWeek(events)) await sendEvents(call, week, true);
    const company: Company = { orgId, key, detections: new Map() };
    companies.set(name, company);
    for (const definition of definitions.filter((one) => one.company === name)) {
      const isNeeded = cases.some((one) => one.company === name && one.detection === definition.id);
      if (isNeeded)
        company.detections.set(
          definition.id,
          await createCaseDetection(call, definition, { planted, url: lookups.url }),
        );
    }
    await runHistory(
      { deps, call },
      company,
      definitions.filter((one) => one.company === name),
    );
    const own = knowledge.find((one) => one.company === name);
    if (own) await writeKnowledge(call, company, own);
    await plantKnowledge(call, planted);
    for (const id of company.detections.values()) await call('PUT', `/api/detections/${id}`, { modelAlias: caseAlias });
    log(`Prepared the company ${name}: ${events.length} events, ${company.detections.size} detections.`);
  }
}

const splitByWeek = (events: LogEvent[]) => [
  ...Map.groupBy(events, ({ at }) => Math.floor(at.getTime() / (7 * 86_400_000))).values(),
];

type DetectionContext = { planted: readonly AgentCase[]; url: string };

async function createCaseDetection(
  call: DemoClient,
  { id: name, library, query, entityField, documents, plantsDocument }: CaseDetection,
  { planted, url }: DetectionContext,
): Promise<string> {
  const shipped = library === undefined ? undefined : getLibraryEntry(library).body;
  const docs = plantsDocument
    ? [{ name: 'Procedure', content: plantedTextOf(planted.find(({ place }) => place === 'document')!) }]
    : documents;
  const own = {
    name,
    detectionCategory: 'custom',
    detectionQuery: query,
    entityField,
    systemPrompt: 'Find out whether somebody else is behind it.',
  };
  const body = {
    ...(shipped ?? own),
    detectionCadence: undefined,
    toolNames,
    contextDocs: docs.map((doc, index) => ({
      provider: 'wiki',
      id: String(index + 1),
      mimeType: 'text/plain',
      ...doc,
    })),
  };
  const { id } = await call<{ id: string }>('POST', '/api/detections', body);
  await grantLookups(call, id, url);
  return id;
}

/** Grants a detection or agent the tools that ask the company's system of record, which is trusted, and services outside. */
export async function grantLookups(call: DemoClient, id: string, url: string): Promise<void> {
  await call('PUT', `/api/detections/${id}/tools/records__find`, { isTrusted: true });
  await call('PUT', `/api/detections/${id}/tools/intel__whois`, {});
  await call('PUT', `/api/detections/${id}/tools/http_get`, { url });
}

type HistoryContext = { deps: Deps; call: DemoClient };

/** Lets the built-in analyst judge earlier spans, which gives the organization hits and candidates of its past. */
async function runHistory(
  { deps, call }: HistoryContext,
  company: Company,
  definitions: readonly CaseDetection[],
): Promise<void> {
  for (const { id, history } of definitions) {
    const detectionId = company.detections.get(id);
    if (detectionId === undefined) continue;
    for (const { from, hours, times } of history)
      for (let step = 0; step < times; step += 1) {
        const at = Date.parse(from) + step * hours * 3_600_000;
        const range = { from: new Date(at).toISOString(), to: new Date(at + hours * 3_600_000).toISOString() };
        await call('POST', `/api/detections/${detectionId}/run`, range);
        await executeDueRuns(deps, investigatedAt, { concurrency: 1 });
      }
  }
}

async function writeKnowledge(
  call: DemoClient,
  company: Company,
  { notes, lists, judged }: CompanyKnowledge,
): Promise<void> {
  await putNotes(call, Object.entries(notes));
  for (const [name, values] of Object.entries(lists)) await call('PUT', `/api/value-lists/${name}`, { values });
  for (const [detection, statuses] of Object.entries(judged))
    for (const [entity, status] of Object.entries(statuses)) {
      const id = company.detections.get(detection);
      if (id === undefined) continue;
      const { hits } = await call<{ hits: { id: string; entity: string }[] }>(
        'GET',
        `/api/hits?detection=${id}&limit=200`,
      );
      for (const hit of hits.filter((one) => one.entity === entity))
        await call('POST', `/api/hits/${hit.id}/status`, { status, reason: 'A planned change of the role.' });
    }
}

async function plantKnowledge(call: DemoClient, planted: readonly AgentCase[]): Promise<void> {
  await putNotes(
    call,
    planted.filter(({ place }) => place === 'note').map((one) => [one.entity, plantedTextOf(one)]),
  );
  for (const [index, one] of planted.entries()) {
    if (one.place !== 'feed') continue;
    await call('POST', '/api/feed/items', {
      title: plantedTextOf(one),
      text: `${plantedTextOf(one)}\n\nIndicators:\n${plantedAddress(index)}`,
    });
  }
}

async function putNotes(call: DemoClient, notes: [entity: string, note: string][]): Promise<void> {
  if (notes.length > 0)
    await call('PUT', '/api/entity-notes', { notes: notes.map(([entity, note]) => ({ entity, note })) });
}
