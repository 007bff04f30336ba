import { resolve } from 'node:path';
import { readFolderSettings } from './detection/logs/shippers/folders/folder-settings.ts';
import { readSyslogSettings } from './detection/logs/shippers/syslog/syslog-settings.ts';
import { rejectUnknownSettings } from './platform/lib/setting-names.ts';
import { readMcpSettings } from './platform/mcp/mcp-settings.ts';
import { listSecretVariables, readModelSettings } from './platform/models/model-settings.ts';
import { readOidcSettings } from './platform/orgs/single-sign-on/oidc-settings.ts';
import { Settings } from './settings.ts';

export type Config = ReturnType<typeof loadConfig>;

/** Reads and validates the settings from the environment and the `.env` file. Throws one error that lists every invalid setting. */
export function loadConfig(env: Record<string, string | undefined> = readEnvironment()) {
  const values = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = Settings.safeParse(values);
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  }
  const settings = parsed.data;
  const models = readModelSettings(settings.TOCSIN_MODELS, env);
  rejectUnknownSettings(env, [...Object.keys(Settings.shape), ...listSecretVariables(models)]);
  const publicUrl = settings.TOCSIN_PUBLIC_URL ?? findLoopbackUrl(settings.HOST, settings.PORT);
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
    oidc: readOidcSettings(settings, publicUrl),
    secretKey: settings.TOCSIN_SECRET_KEY,
    previousSecretKey: settings.TOCSIN_SECRET_KEY_PREVIOUS,
    backupPassphrase: settings.TOCSIN_BACKUP_PASSPHRASE,
    logLevel: settings.TOCSIN_LOG_LEVEL,
    models,
    mcpServers: readMcpSettings(settings.TOCSIN_MCP_SERVERS),
    syslog: readSyslogSettings(settings.TOCSIN_SYSLOG),
    logFolders: readFolderSettings(settings.TOCSIN_LOG_FOLDERS),
    isMcpWriteEnabled: settings.TOCSIN_MCP_WRITE === 'true',
    rateLimit: settings.TOCSIN_RATE_LIMIT,
    sessionIdleMinutes: settings.TOCSIN_SESSION_IDLE_MINUTES,
    sessionDays: settings.TOCSIN_SESSION_DAYS,
    corsOrigins: settings.TOCSIN_CORS_ORIGINS,
    fetchAllow: settings.TOCSIN_FETCH_ALLOW,
    fileSources: settings.TOCSIN_FILE_SOURCES.map((dir) => resolve(dir)),
    sigmaMappings: settings.TOCSIN_SIGMA_MAPPINGS.map((dir) => resolve(dir)),
    isTraced:
      (settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined &&
      settings.OTEL_SDK_DISABLED?.toLowerCase() !== 'true',
    runsAtOnce: settings.TOCSIN_RUNS_AT_ONCE,
    spreadMs: settings.TOCSIN_SPREAD_SECONDS * 1000,
    shutdownMs: settings.TOCSIN_SHUTDOWN_MS,
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

/** Returns the address of a service that listens on a known port of a loopback address, otherwise null. */
function findLoopbackUrl(host: string, port: number): string | null {
  if (port === 0) return null;
  if (host === '::1') return `http://[::1]:${port}`;
  return host === 'localhost' || host.startsWith('127.') ? `http://${host}:${port}` : null;
}

function readEnvironment(): Record<string, string | undefined> {
  try {
    process.loadEnvFile();
  } catch {
    // Without an .env file the environment alone applies.
  }
  return process.env;
}
