import { buildDeps } from '../src/app/build-deps.ts';
import { loadConfig } from '../src/config.ts';
import { openDb } from '../src/platform/db/db.ts';
import { createLogger } from '../src/platform/lib/logger.ts';
import { checkSoak, type Findings } from './check.ts';
import { driveHours } from './drive.ts';
import { modelSettings, serveModel } from './model.ts';
import { planSoak, type Options } from './plan.ts';
import { makeDetections } from './setup.ts';
import { serveSiem } from './siem.ts';
import { leapingClock } from './slot-clock.ts';
import { startWorkers } from './workers.ts';

type Place = { databaseUrl: string; dataDir: string };

/** Plays a plan on a migrated, empty database, and holds what is there at the end against what was to happen. */
export async function soak(options: Options, place: Place, say: (text: string) => void): Promise<Findings> {
  const plan = planSoak(options);
  const [siem, model] = await Promise.all([serveSiem(plan), serveModel(plan)]);
  const env = {
    DATABASE_URL: place.databaseUrl,
    TOCSIN_DATA_DIR: place.dataDir,
    TOCSIN_SPREAD_SECONDS: '0',
    TOCSIN_RUNS_AT_ONCE: String(options.runsAtOnce),
    TOCSIN_MODELS: modelSettings(model),
    TOCSIN_LOG_LEVEL: 'fatal',
    TOCSIN_SECRET_KEY: 'a-secret-key-for-the-soak-and-nothing-else',
  };
  const db = openDb(place.databaseUrl);
  const config = loadConfig(env);
  const clock = leapingClock(new Date(plan.world.start.getTime() + 60_000));
  const { deps, stop } = buildDeps({ config, db, log: createLogger(config.logLevel), clock: clock.now });
  try {
    const made = await makeDetections(deps, plan);
    say(`${made.ids.length} detections of ${made.orgIds.length} organizations are there`);
    const { local } = made;
    const start = plan.world.start.toISOString();
    const workers = startWorkers(options.workers, env, { now: deps.clock().toISOString(), start, siemUrl: siem.url, local }); // prettier-ignore
    try {
      const begun = performance.now();
      const { lastHour, load } = await driveHours({ plan, made, deps, leap: clock.leap, siem, model, workers, say });
      const seconds = (performance.now() - begun) / 1000;
      const exits = await workers.stop();
      return await checkSoak({ plan, made, db, siem, lives: workers.lives, lastHour, seconds, exits, load });
    } finally {
      await workers.stop();
    }
  } finally {
    siem.close();
    model.close();
    await stop();
    await db.destroy();
  }
}
