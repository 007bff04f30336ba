import { buildDeps } from '../src/app/build-deps.ts';
import { loadConfig } from '../src/config.ts';
import { openDb } from '../src/platform/db/db.ts';
import { createLogger } from '../src/platform/lib/logging/logger.ts';
import { checkSoak, type SoakFindings } from './checks/check-soak.ts';
import { driveHours } from './drive-hours.ts';
import { buildModelSettings, startScriptedModel } from './scripted-model.ts';
import { planSoak, type SoakOptions } from './plan.ts';
import { createDetections } from './create-detections.ts';
import { startScriptedSiem } from './scripted-siem.ts';
import { createSlotClock } from './slot-clock.ts';
import { startWorkers } from './worker-processes.ts';

type SoakDatabase = { databaseUrl: string; dataDir: string };

/** Runs a soak on a migrated, empty database and checks the final state against the scripted events. */
export async function runSoak(
  options: SoakOptions,
  database: SoakDatabase,
  report: (text: string) => void,
): Promise<SoakFindings> {
  const plan = planSoak(options);
  const [siem, model] = await Promise.all([startScriptedSiem(plan), startScriptedModel(plan)]);
  const env = {
    DATABASE_URL: database.databaseUrl,
    TOCSIN_DATA_DIR: database.dataDir,
    TOCSIN_SPREAD_SECONDS: '0',
    TOCSIN_RUNS_AT_ONCE: String(options.runsAtOnce),
    TOCSIN_MODELS: buildModelSettings(model),
    TOCSIN_LOG_LEVEL: 'fatal',
    TOCSIN_SECRET_KEY: 'a-secret-key-used-by-the-soak-only',
  };
  const db = openDb(database.databaseUrl);
  const config = loadConfig(env);
  const clock = createSlotClock(new Date(plan.timeline.start.getTime() + 60_000));
  const { deps, stop } = buildDeps({ config, db, log: createLogger(config.logLevel), clock: clock.now });
  try {
    const setup = await createDetections(deps, plan);
    report(`created ${setup.ids.length} detections in ${setup.orgIds.length} organizations`);
    const { local } = setup;
    const start = plan.timeline.start.toISOString();
    const workers = startWorkers(options.workers, env, { now: deps.clock().toISOString(), start, siemUrl: siem.url, local }); // prettier-ignore
    try {
      const startMs = performance.now();
      const context = { plan, setup, deps, setSlotTime: clock.set, siem, model, workers, report };
      const { lastHour, load } = await driveHours(context);
      const seconds = (performance.now() - startMs) / 1000;
      const exits = await workers.stop();
      return await checkSoak({ plan, setup, db, siem, lives: workers.lives, lastHour, seconds, exits, load });
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
