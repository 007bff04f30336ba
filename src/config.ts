import { resolve } from 'node:path';
import type { z } from 'zod';
import { readFolderSettings } from './detection/shippers/shipper-settings.ts';
import { readSyslogSettings } from './detection/shippers/shipper-settings.ts';
import { toBasePath } from './platform/http/base-path.ts';
import { findSetting, type Environment, rejectUnknownSettings } from './platform/lib/settings-input.ts';
import { readMcpSettings } from './platform/mcp/mcp.schema.ts';
import { listSecretVariables, readModelSettings } from './platform/models/model-settings.ts';
import { readOidcSettings } from './platform/orgs/single-sign-on/oidc-settings.ts';
import { Settings } from './settings.ts';

export type Config = ReturnType<typeof loadConfig>;

/**
 * Reads and validates the settings from the environment, the `.env` file and the files of `…_FILE` variables. Throws one error that lists every
 * invalid setting.
 */
export function loadConfig(env: Environment = readEnvironment()) {
  const problems: string[] = [];
  const attempt = <T>(read: () => T, fallback: T): T => {
    try {
      return read();
    } catch (error) {
      problems.push((error as Error).message);
      return fallback;
    }
  };
  const settings = readSettings(env, problems, attempt);
  const publicUrl = settings.TOCSIN_PUBLIC_URL ?? findLoopbackUrl(settings.HOST, settings.PORT);
  const models = attempt(() => readModelSettings(settings.TOCSIN_MODELS, env), {});
  const parts = {
    oidc: attempt(() => readOidcSettings(settings, publicUrl), null),
    mcpServers: attempt(() => readMcpSettings(settings.TOCSIN_MCP_SERVERS), {}),
    syslog: attempt(() => readSyslogSettings(settings.TOCSIN_SYSLOG), {}),
    logFolders: attempt(() => readFolderSettings(settings.TOCSIN_LOG_FOLDERS), {}),
  };
  // The models may be what is wrong, and then the variables of their secrets are unknown.
  const secretVariables = listSecretVariables(models);
  attempt(() => rejectUnknownSettings(env, [...Object.keys(Settings.shape), ...secretVariables]), undefined);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return {
    port: settings.PORT,
    host: settings.HOST,
    workerPort: settings.TOCSIN_WORKER_PORT,
    databaseUrl: settings.DATABASE_URL,
    databaseDirectUrl: settings.DATABASE_DIRECT_URL,
    databaseReplicaUrl: settings.DATABASE_REPLICA_URL,
    dataDir: resolve(settings.TOCSIN_DATA_DIR),
    diskReserveBytes: settings.TOCSIN_DISK_RESERVE_BYTES,
    logs: { bucket: settings.TOCSIN_LOGS_URL, cacheBytes: settings.TOCSIN_LOGS_CACHE_BYTES },
    apiKey: settings.TOCSIN_API_KEY,
    adminKey: settings.TOCSIN_ADMIN_KEY,
    url: settings.TOCSIN_URL,
    publicUrl,
    basePath: toBasePath(publicUrl),
    secretKey: settings.TOCSIN_SECRET_KEY,
    previousSecretKey: settings.TOCSIN_SECRET_KEY_PREVIOUS,
    backupPassphrase: settings.TOCSIN_BACKUP_PASSPHRASE,
    logLevel: settings.TOCSIN_LOG_LEVEL,
    models,
    ...parts,
    isMcpWriteEnabled: settings.TOCSIN_MCP_WRITE === 'true',
    rateLimit: settings.TOCSIN_RATE_LIMIT,
    sessionIdleMinutes: settings.TOCSIN_SESSION_IDLE_MINUTES,
    sessionDays: settings.TOCSIN_SESSION_DAYS,
    corsOrigins: settings.TOCSIN_CORS_ORIGINS,
    fetchAllow: settings.TOCSIN_FETCH_ALLOW,
    geoDatabases: settings.TOCSIN_GEO_DATABASES.map((path) => resolve(path)),
    fileSources: settings.TOCSIN_FILE_SOURCES.map((dir) => resolve(dir)),
    sigmaMappings: settings.TOCSIN_SIGMA_MAPPINGS.map((dir) => resolve(dir)),
    isTraced:
      settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && settings.OTEL_SDK_DISABLED?.toLowerCase() !== 'true',
    runsAtOnce: settings.TOCSIN_RUNS_AT_ONCE,
    continuousPerMinute: settings.TOCSIN_CONTINUOUS_PER_MINUTE,
    spreadMs: settings.TOCSIN_SPREAD_SECONDS * 1000,
    incidents: {
      spanMs: settings.TOCSIN_INCIDENT_SPAN_HOURS,
      othersMax: settings.TOCSIN_INCIDENT_OTHERS_MAX,
      severityMin: settings.TOCSIN_INCIDENT_MIN_SEVERITY,
      dueMs: settings.TOCSIN_INCIDENT_DUE_HOURS,
      risk: {
        halfLifeMs: settings.TOCSIN_RISK_HALF_LIFE_DAYS * 86_400_000,
        threshold: settings.TOCSIN_RISK_THRESHOLD,
      },
    },
    keep: {
      rowsDays: settings.TOCSIN_KEEP_ROWS_DAYS,
      hitsDays: settings.TOCSIN_KEEP_HITS_DAYS,
      runsDays: settings.TOCSIN_KEEP_RUNS_DAYS,
      logsDays: settings.TOCSIN_KEEP_LOGS_DAYS,
      outboxDays: settings.TOCSIN_KEEP_OUTBOX_DAYS,
      auditDays: settings.TOCSIN_KEEP_AUDIT_DAYS,
    },
  };
}

/** Returns the values of the settings, with the default of each one that is invalid, and adds what is wrong with it to `problems`. */
function readSettings(
  env: Environment,
  problems: string[],
  attempt: <T>(read: () => T, fallback: T) => T,
): z.infer<typeof Settings> {
  const names = Object.keys(Settings.shape);
  const values = Object.fromEntries(names.map((name) => [name, attempt(() => readValue(env, name), undefined)]));
  const parsed = Settings.safeParse(values);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    problems.push(`${path.join('.')}: ${message}`);
    values[String(path[0])] = undefined;
  }
  return Settings.parse(values);
}

/** The variables of proxies are those of other programs: lower case wins, and there are no files. */
const readValue = (env: Environment, name: string): string | undefined =>
  name.endsWith('_PROXY') ? env[name.toLowerCase()] || env[name] || undefined : findSetting(env, name);

/** Returns the address of a service that listens on a known port of a loopback address, otherwise null. */
function findLoopbackUrl(host: string, port: number): string | null {
  if (port === 0) return null;
  if (host === '::1') return `http://[::1]:${port}`;
  return host === 'localhost' || host.startsWith('127.') ? `http://${host}:${port}` : null;
}

function readEnvironment(): Environment {
  try {
    process.loadEnvFile();
  } catch {
    // Without an .env file the environment alone applies.
  }
  return process.env;
}
