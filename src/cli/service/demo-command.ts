import { buildApp } from '../../app/http-server.ts';
import { buildDeps } from '../../app/build-deps.ts';
import { loadConfig, type Config } from '../../config.ts';
import { openDatabase } from '../../app/open-database.ts';
import type { Deps } from '../../app/deps.ts';
import { getLibraryEntry } from '../../detection/library/load-library.ts';
import { createClient } from '../../demo/client.ts';
import {
  createStepClock,
  floorToHour,
  loadFeed,
  pullNews,
  runDetections,
  scheduleSuggestions,
  computeScheduleStart,
  selectDetections,
  type DemoContext,
  createDemoDir,
  removeDemoDir,
} from '../../demo/run-demo.ts';
import { generateCompanyLogs } from '../../demo/company/company.ts';
import {
  expectedHits,
  listFailedRuns,
  formatFeed,
  findUnmetExpectations,
  formatOutcome,
  formatQuietDetections,
  readFeedStats,
} from '../../demo/demo-summary.ts';
import { readRecordedLogs } from '../../demo/recorded-logs.ts';
import type { LogEvent } from '../../demo/company/shapes.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { bootstrapDefaultOrganization, createConsoleLink } from '../../app/bootstrap.ts';
import { runWorkerLoops } from '../../app/worker/worker-loops.ts';
import { createProgress, printText } from '../support/output.ts';
import { untilAborted, waitForShutdown } from './start-command.ts';

type DemoOptions = { once?: boolean | undefined; logs?: string | undefined };
const portAttempts = 50;

/** Runs the demo without settings or network access, in its own data directory. `--once` exits after the summary. */
export async function demoCommand(values: DemoOptions): Promise<number> {
  const startMs = performance.now();
  const end = new Date();
  const stopped = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopped.abort());
  // Read the logs first, so that an invalid folder is reported before anything starts.
  const events =
    values.logs === undefined ? [...generateCompanyLogs({ end })] : readRecordedLogs(values.logs, floorToHour(end));
  const dataDir = await createDemoDir();
  const loaded = loadConfig();
  const overrides = { databaseUrl: undefined, dataDir, fileSources: [dataDir], spreadMs: 0, logLevel: 'warn' as const };
  const config: Config = { ...loaded, ...overrides, logs: { ...loaded.logs, bucket: null } };
  const print = printText;
  print('Starting PostgreSQL and the service …');
  const database = await openDatabase(config, { exclusive: true, log: () => undefined });
  const time = createStepClock(computeScheduleStart(end));
  const built = buildDeps({ config, db: database.db, log: createLogger(config.logLevel), clock: time.clock });
  let exitCode = 1;
  try {
    const newKey = await bootstrapDefaultOrganization({ db: database.db, clock: time.clock }, config.apiKey);
    const { close, address } = await listenOnFreePort(built.deps, config.port);
    const scene: DemoContext = {
      deps: built.deps,
      call: createClient(address, newKey ?? config.apiKey!),
      time,
      dataDir,
      print,
      reportHours: createProgress(process.stdout, 'hours'),
    };
    exitCode = await playDemo(scene, end, { events, isRecorded: values.logs !== undefined });
    print(`\nDone in ${((performance.now() - startMs) / 1000).toFixed(0)} s.`);
    if (!values.once && !stopped.signal.aborted) {
      time.release();
      await scheduleSuggestions(scene.call);
      const keyLine = newKey ? `API key:\n${newKey}` : 'The API key is the value of TOCSIN_API_KEY.';
      print(`\nThe API stays up at ${address} (reference: ${address}/docs) until Ctrl-C. ${keyLine}`);
      print(`Try: curl -s ${address}/api/hits -H "Authorization: Bearer ${newKey ?? '$TOCSIN_API_KEY'}"`);
      print(
        `\nOpen the console, signed in (once, within five minutes): ${await createConsoleLink(database.db, address)}`,
      );
      const work = runWorkerLoops(built.deps, stopped.signal);
      await untilAborted(stopped.signal);
      await waitForShutdown(work);
    }
    await close();
  } finally {
    await built.stop();
    await database.stop();
    removeDemoDir(dataDir, database.location);
  }
  return exitCode;
}

async function playDemo(
  scene: DemoContext,
  end: Date,
  { events, isRecorded }: { events: LogEvent[]; isRecorded: boolean },
): Promise<number> {
  const own = expectedHits.map(({ detection }) => getLibraryEntry(detection));
  const detections = isRecorded ? selectDetections(new Set(events.map(({ dataset }) => dataset))) : own;
  scene.print(`${events.length} events, starting at ${events[0]!.at.toISOString()}.`);
  if (detections.length === 0) scene.print('No shipped detection reads these datasets. The events are loaded anyway.');
  // The feed is there first, so that the analyst finds in it what the runs find in the logs.
  const sources = await loadFeed(scene, end);
  const outcomes = await runDetections(scene, events, { end, detections });
  await pullNews(scene, end, sources);
  for (const line of [...outcomes.flatMap(formatOutcome), ...formatQuietDetections(outcomes)]) scene.print(line);
  for (const line of formatFeed(await readFeedStats(scene.call))) scene.print(line);
  const problems = isRecorded ? listFailedRuns(outcomes) : findUnmetExpectations(expectedHits, outcomes);
  const success = isRecorded
    ? 'Every run completed.'
    : 'Every stage of the intrusion that these detections watch for was found.';
  scene.print(
    problems.length === 0 ? `\n${success}` : `\nUnexpected results:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  );
  return problems.length === 0 ? 0 : 1;
}

async function listenOnFreePort(deps: Deps, first: number): Promise<{ close: () => Promise<void>; address: string }> {
  for (let port = first; ; port += 1) {
    const app = await buildApp(deps);
    try {
      return { address: await app.listen({ port, host: deps.config.host }), close: () => app.close() };
    } catch (error) {
      await app.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || port >= first + portAttempts) throw error;
    }
  }
}
