import { resolve } from 'node:path';
import { z } from 'zod';
import { readMcpSettings, type McpSettings } from './platform/mcp/mcp-settings.ts';
import { readModelSettings, type ModelSettings } from './platform/models/model-settings.ts';

const count = (fallback: number, min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(error).int(error).min(min, error).max(max, error).default(fallback);
};
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  );

/** Every setting with its one line of documentation, from which the table of the README is made. */
export const Settings = z.object({
  PORT: count(8080, 0, 65_535).describe('Port that the API listens on.'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address that the API listens on.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
    .optional()
    .describe('PostgreSQL 15 or newer to use; unset: the program runs its own in the data directory.'),
  TOCSIN_DATA_DIR: z
    .string()
    .min(1)
    .default('.tocsin')
    .describe('Directory of the embedded database and of the log store.'),
  TOCSIN_API_KEY: z
    .string()
    .min(20, 'must have at least 20 characters')
    .regex(/^[\x20-\x7E]*$/, 'must be of plain ASCII characters, which a request can carry')
    .optional()
    .describe(
      'Administrator key of the organization `default`; at least 20 characters; a changed value replaces the old one.',
    ),
  TOCSIN_URL: z
    .url({ protocol: /^https?$/, message: 'must begin with http:// or https://' })
    .default('http://127.0.0.1:8080')
    .describe('Service that `pull`, `plan` and `apply` talk to, with the key in `TOCSIN_API_KEY`.'),
  TOCSIN_SECRET_KEY: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe(
      'Encrypts stored credentials, at least 32 characters; unset: a key in the data directory, unless `DATABASE_URL` is set.',
    ),
  TOCSIN_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Least level of the log lines.'),
  TOCSIN_MODELS: z
    .string()
    .optional()
    .describe(
      'Language models: JSON, or the path of a file that holds it, from alias to provider and model; unset: the built-in analyst judges.',
    ),
  TOCSIN_MCP_SERVERS: z
    .string()
    .optional()
    .describe(
      'MCP servers whose tools detections may be allowed: JSON, or the path of a file that holds it, from name to command or url.',
    ),
  TOCSIN_RATE_LIMIT: z.coerce
    .number()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe('Requests per second and key, 0 = off; 50 suits a server open to others.'),
  TOCSIN_CORS_ORIGINS: list.describe('Origins, separated by commas, whose pages may call the API.'),
  TOCSIN_FETCH_ALLOW: list.describe(
    'Hosts or CIDRs, separated by commas, that outgoing requests may reach although they are private.',
  ),
  TOCSIN_FILE_SOURCES: list.describe(
    'Directories, separated by commas, below which feed sources of the API may name `file:` addresses.',
  ),
  TOCSIN_RUNS_AT_ONCE: count(2, 1, 64).describe('Detection runs that one process executes at the same time.'),
  TOCSIN_SPREAD_SECONDS: count(120, 0, 3_000).describe(
    'Starts of one slot are spread over this time by a hash of the detection.',
  ),
  TOCSIN_KEEP_ROWS_DAYS: count(30, 1, 3_650).describe('Days that rows and steps without a hit are kept.'),
  TOCSIN_KEEP_HITS_DAYS: count(365, 1, 3_650).describe('Days that hits are kept after they were last seen.'),
  TOCSIN_KEEP_RUNS_DAYS: count(400, 31, 3_650).describe('Days that runs and their steps are kept.'),
  TOCSIN_KEEP_LOGS_DAYS: count(90, 1, 3_650).describe('Days that logs are kept after they were received.'),
  TOCSIN_KEEP_OUTBOX_DAYS: count(7, 1, 3_650).describe('Days that the bodies of deliveries are kept.'),
  TOCSIN_SHUTDOWN_MS: count(15_000, 1_000, 300_000).describe(
    'Longest time that an orderly stop takes, in milliseconds.',
  ),
});

export type Config = {
  port: number;
  host: string;
  databaseUrl: string | undefined;
  dataDir: string;
  apiKey: string | undefined;
  url: string;
  secretKey: string | undefined;
  logLevel: string;
  models: ModelSettings;
  mcpServers: McpSettings;
  rateLimit: number;
  corsOrigins: string[];
  fetchAllow: string[];
  fileSources: string[];
  runsAtOnce: number;
  spreadMs: number;
  shutdownMs: number;
  /** Days. */
  keep: { rowsDays: number; hitsDays: number; runsDays: number; logsDays: number; outboxDays: number };
};

/** Reads and checks the settings, from the environment and an `.env` file beside it. Throws one message that names each wrong setting. */
export function loadConfig(env: Record<string, string | undefined> = environment()): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = Settings.safeParse(given);
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  }
  const s = parsed.data;
  return {
    port: s.PORT,
    host: s.HOST,
    databaseUrl: s.DATABASE_URL,
    dataDir: resolve(s.TOCSIN_DATA_DIR),
    apiKey: s.TOCSIN_API_KEY,
    url: s.TOCSIN_URL,
    secretKey: s.TOCSIN_SECRET_KEY,
    logLevel: s.TOCSIN_LOG_LEVEL,
    models: readModelSettings(s.TOCSIN_MODELS, env),
    mcpServers: readMcpSettings(s.TOCSIN_MCP_SERVERS),
    rateLimit: s.TOCSIN_RATE_LIMIT,
    corsOrigins: s.TOCSIN_CORS_ORIGINS,
    fetchAllow: s.TOCSIN_FETCH_ALLOW,
    fileSources: s.TOCSIN_FILE_SOURCES.map((dir) => resolve(dir)),
    runsAtOnce: s.TOCSIN_RUNS_AT_ONCE,
    spreadMs: s.TOCSIN_SPREAD_SECONDS * 1000,
    shutdownMs: s.TOCSIN_SHUTDOWN_MS,
    keep: {
      rowsDays: s.TOCSIN_KEEP_ROWS_DAYS,
      hitsDays: s.TOCSIN_KEEP_HITS_DAYS,
      runsDays: s.TOCSIN_KEEP_RUNS_DAYS,
      logsDays: s.TOCSIN_KEEP_LOGS_DAYS,
      outboxDays: s.TOCSIN_KEEP_OUTBOX_DAYS,
    },
  };
}

function environment(): Record<string, string | undefined> {
  try {
    process.loadEnvFile();
  } catch {
    // No .env file: the environment alone counts.
  }
  return process.env;
}
