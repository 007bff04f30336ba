import { buildApp } from '../app/http-server.ts';
import { buildDeps } from '../app/build-deps.ts';
import { loadConfig } from '../config.ts';
import { openDatabase } from '../app/open-database.ts';
import type { Deps } from '../app/deps.ts';
import { builtinDetections } from '../detection/built-in/registry.ts';
import type { BuiltinDetection } from '../detection/built-in/built-in-detection.ts';
import { clientOf } from '../demo/client.ts';
import { stepClock } from '../demo/step-clock.ts';
import { companyLogs } from '../demo/company/company.ts';
import { newDemoDir, removeDemoDir } from '../demo/demo-directory.ts';
import { expected } from '../demo/expected.ts';
import { recordedLogs } from '../demo/recorded-logs.ts';
import { lastFullHour, playFeed, playLogs, scheduleStart, shippedFor, type Scene } from '../demo/run-demo.ts';
import { failures, feedLines, missed, outcomeLines, quietLines, readStats } from '../demo/demo-summary.ts';
import type { LogEvent } from '../demo/company/shapes.ts';
import { createLogger } from '../platform/lib/logger.ts';
import { prepareDefault } from '../app/bootstrap.ts';
import { runWorker } from '../app/worker-loops.ts';
import { aborted, withinMs } from './start-command.ts';
import { readArgs, UsageError } from './read-args.ts';

const usage = 'tocsin demo [--once] [--logs DIR]';
const portsTried = 50;

/** The main job for a newcomer: no setting, no network, a data directory of its own. `--once` ends after the summary. */
export async function demoCommand(args: string[]): Promise<number> {
  const { values, words } = readArgs(args, { once: { type: 'boolean' }, logs: { type: 'string' } }, usage);
  if (words.length > 0) throw new UsageError(`Usage: ${usage}`);
  const began = performance.now();
  const end = new Date();
  const stopped = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopped.abort());
  // Read before anything is started: a wrong folder is told at once.
  const events = values.logs === undefined ? [...companyLogs({ end })] : recordedLogs(values.logs, lastFullHour(end));
  const dataDir = await newDemoDir();
  const { databaseUrl: _given, ...settings } = loadConfig();
  const config = {
    ...settings,
    databaseUrl: undefined,
    dataDir,
    fileSources: [dataDir],
    spreadMs: 0,
    logLevel: 'warn',
  };
  const say = (line: string): void => console.log(line);
  say('Starting PostgreSQL and the service …');
  const database = await openDatabase(config, { exclusive: true, log: () => undefined });
  const time = stepClock(scheduleStart(end));
  const built = buildDeps({ config, db: database.db, log: createLogger(config.logLevel), clock: time.clock });
  let exitCode = 1;
  try {
    const made = await prepareDefault({ db: database.db, clock: time.clock }, config.apiKey);
    const { close, address } = await listenOnFreePort(built.deps, config.port);
    const scene: Scene = { deps: built.deps, call: clientOf(address, made ?? config.apiKey!), time, dataDir, say };
    exitCode = await play(scene, end, { events, recorded: values.logs !== undefined });
    say(`\nDone in ${((performance.now() - began) / 1000).toFixed(0)} s.`);
    if (!values.once && !stopped.signal.aborted) {
      time.release();
      const keyLine = made ? `Its key:\n${made}` : 'Its key is TOCSIN_API_KEY.';
      say(`\nThe API stays up at ${address} (reference: ${address}/docs) until Ctrl-C. ${keyLine}`);
      say(`Try: curl -s ${address}/api/hits -H "Authorization: Bearer ${made ?? '$TOCSIN_API_KEY'}"`);
      const work = runWorker(built.deps, stopped.signal);
      await aborted(stopped.signal);
      await withinMs(config.shutdownMs, work);
    }
    await close();
  } finally {
    await built.stop();
    await database.stop();
    removeDemoDir(dataDir, database.location);
  }
  return exitCode;
}

async function play(
  scene: Scene,
  end: Date,
  { events, recorded }: { events: LogEvent[]; recorded: boolean },
): Promise<number> {
  const own = expected.map(({ detection }): BuiltinDetection => builtinDetections[detection]);
  const detections = recorded ? shippedFor(new Set(events.map(({ dataset }) => dataset))) : own;
  scene.say(`${events.length} events from ${events[0]!.at.toISOString()} on.`);
  if (detections.length === 0)
    scene.say('No shipped detection reads these datasets; the events are loaded all the same.');
  const outcomes = await playLogs(scene, events, { end, detections });
  await playFeed(scene, end);
  for (const line of [...outcomes.flatMap(outcomeLines), ...quietLines(outcomes)]) scene.say(line);
  for (const line of feedLines(await readStats(scene.call))) scene.say(line);
  const wrong = recorded ? failures(outcomes) : missed(expected, outcomes);
  const praise = recorded
    ? 'Every run completed.'
    : 'Every stage of the intrusion that these detections watch for was found.';
  scene.say(wrong.length === 0 ? `\n${praise}` : `\nNot as expected:\n${wrong.map((line) => `  ${line}`).join('\n')}`);
  return wrong.length === 0 ? 0 : 1;
}

async function listenOnFreePort(deps: Deps, first: number): Promise<{ close: () => Promise<void>; address: string }> {
  for (let port = first; ; port += 1) {
    const app = await buildApp(deps);
    try {
      return { address: await app.listen({ port, host: deps.config.host }), close: () => app.close() };
    } catch (error) {
      await app.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || port >= first + portsTried) throw error;
    }
  }
}
