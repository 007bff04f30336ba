import { withoutTrailingSlashes } from './platform/lib/outbound-http/addresses.ts';
import { z } from 'zod';
import { severities, type Severity } from './detection/analysis/candidate.ts';
import { withDefaultUser } from './platform/db/server-address.ts';
import { toProxyUrl } from './platform/lib/outbound-http/proxy.ts';
import { parseLogsUrl } from './platform/lib/storage/logs-url.ts';

const integer = (fallback: number, min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(error).int(error).min(min, error).max(max, error).default(fallback);
};
const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
  .transform((url, context) => {
    try {
      return withDefaultUser(url);
    } catch {
      context.addIssue('is not a valid URL. Percent-encode special characters of the password');
      return z.NEVER;
    }
  })
  .optional();
const proxyUrl = z
  .string()
  .transform(toProxyUrl)
  .pipe(
    z.url({ protocol: /^https?$/, message: 'must be the address of an HTTP proxy, such as http://proxy.example:3128' }),
  )
  .optional();
const commaSeparated = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  );

/** Hours by severity, such as `48,critical=96`: first those of every severity that has none of its own. In milliseconds. */
const hoursBySeverity = (fallback: string) =>
  z
    .string()
    .regex(
      /^\d{1,4}(?:,(?:none|low|medium|high|critical)=\d{1,4})*$/,
      'must be hours such as 48, or 48,critical=96 for severities with hours of their own',
    )
    .default(fallback)
    .transform((text) => {
      const [every, ...own] = text.split(',');
      const entries = [...severities.map((severity) => [severity, every]), ...own.map((part) => part.split('='))];
      return Object.fromEntries(entries.map(([severity, hours]) => [severity, Number(hours) * 3_600_000])) as Record<
        Severity,
        number
      >;
    });

/** All settings. The descriptions become the table in docs/reference/settings.md. */
export const Settings = z.object({
  PORT: integer(8080, 0, 65_535).describe('Port that the API listens on.'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address that the API listens on.'),
  TOCSIN_WORKER_PORT: integer(0, 0, 65_535).describe(
    'Port on which `tocsin work` serves `/healthz`, `/readyz` and `/metrics`. 0: none.',
  ),
  DATABASE_URL: postgresUrl.describe(
    'External PostgreSQL, version 15 or newer. Default: an embedded PostgreSQL in the data directory.',
  ),
  DATABASE_DIRECT_URL: postgresUrl.describe(
    'The PostgreSQL server itself, if `DATABASE_URL` is a connection pooler such as PgBouncer. Migrations, `tocsin backup` and `tocsin restore` use it. See [scale.md](../operate/scale.md#pgbouncer).',
  ),
  DATABASE_REPLICA_URL: postgresUrl.describe(
    'A streaming replica of `DATABASE_URL` that answers GET requests as long as it has replayed every earlier write. See [scale.md](../operate/scale.md#read-replica). Default: none.',
  ),
  TOCSIN_DATA_DIR: z
    .string()
    .min(1)
    .default('.tocsin')
    .describe('Directory of the embedded database and the log store.'),
  TOCSIN_DISK_RESERVE_BYTES: integer(536_870_912, 0, Number.MAX_SAFE_INTEGER).describe(
    'Free disk space of the data directory that ingestion leaves to the database, in bytes. At that point, logs and feeds are refused.',
  ),
  TOCSIN_LOGS_URL: z
    .string()
    .default('file:')
    .transform((text, context) => {
      const parsed = parseLogsUrl(text);
      if (typeof parsed !== 'string') return parsed;
      context.addIssue(parsed);
      return z.NEVER;
    })
    .describe(
      'Where the log store keeps its files: `file:` for the folder `logs` of the data directory, or `s3://BUCKET/PREFIX?region=REGION&endpoint=URL` for object storage, with credentials as for the AWS command line.',
    ),
  TOCSIN_LOGS_CACHE_BYTES: integer(10_737_418_240, 67_108_864, Number.MAX_SAFE_INTEGER).describe(
    'Local disk space for copies of log files in object storage, in bytes.',
  ),
  TOCSIN_API_KEY: z
    .string()
    .min(20, 'must have at least 20 characters')
    .regex(/^[\x20-\x7E]*$/, 'must consist of printable ASCII characters, since it is sent in a request header')
    .optional()
    .describe(
      'Administrator key of the organization `default`, at least 20 characters. A changed value replaces the old key.',
    ),
  TOCSIN_ADMIN_KEY: z
    .string()
    .min(32, 'must have at least 32 characters')
    .regex(/^[\x21-\x7E]*$/, 'must consist of printable ASCII characters without spaces')
    .optional()
    .describe(
      'Key of the installation for `/api/admin`, at least 32 characters. It gives no access to an organization. Default: none, and these routes refuse every key.',
    ),
  TOCSIN_URL: z
    .url({ protocol: /^https?$/, message: 'must begin with http:// or https://' })
    .default('http://127.0.0.1:8080')
    .describe(
      'Service that `pull`, `plan`, `apply`, `library`, `sigma import`, `pack` and `mcp` call, with the key in `TOCSIN_API_KEY`, or in `TOCSIN_ADMIN_KEY` for `pack`.',
    ),
  TOCSIN_SECRET_KEY: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe(
      'Key that encrypts stored credentials, at least 32 characters. Default: a generated key in the data directory. Required for stored credentials if `DATABASE_URL` is set.',
    ),
  TOCSIN_SECRET_KEY_PREVIOUS: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe('Former key, which still decrypts stored credentials until `tocsin rotate-key` has encrypted them anew.'),
  TOCSIN_BACKUP_PASSPHRASE: z
    .string()
    .min(12, 'must have at least 12 characters')
    .optional()
    .describe('Passphrase that encrypts backups and decrypts them on restore. Default: backups are not encrypted.'),
  TOCSIN_PUBLIC_URL: z
    .url({ protocol: /^https?$/, message: 'must begin with http:// or https://' })
    .regex(/^[^?#]*$/, 'must not have a query or a fragment')
    .transform(withoutTrailingSlashes)
    .optional()
    .describe(
      'Address at which people reach the service, for links to hits in records, events and messages. Default: the listening address if it is a loopback address, otherwise no links.',
    ),
  TOCSIN_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Minimum log level.'),
  TOCSIN_MODELS: z
    .string()
    .optional()
    .describe(
      'Language models by alias, each with provider and model, as JSON or the path of a JSON file. Default: none, and the built-in analyst gives the verdicts.',
    ),
  TOCSIN_MCP_SERVERS: z
    .string()
    .optional()
    .describe(
      'MCP servers by name, each with a command or url, as JSON or the path of a JSON file. Detections can be granted their tools.',
    ),
  TOCSIN_MCP_WRITE: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .describe(
      '`true`: the MCP server of `/mcp` and `tocsin mcp` also offers tools that change something, to keys with their scopes.',
    ),
  TOCSIN_SYSLOG: z
    .string()
    .optional()
    .describe(
      'Syslog listeners by name, each with `port`, `key` and optionally `host`, `dataset` and `tls`, as JSON or the path of a JSON file. See [send-logs.md](../guide/send-logs.md). Default: none.',
    ),
  TOCSIN_LOG_FOLDERS: z
    .string()
    .optional()
    .describe(
      'Folders of AWS log files by name, each with `location`, `format` and `key`, as JSON or the path of a JSON file. See [send-logs.md](../guide/send-logs.md#aws-log-folders). Default: none.',
    ),
  TOCSIN_RATE_LIMIT: z.coerce
    .number()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe(
      'Maximum requests per second and key, for each process that serves requests. 0 disables the limit. 50 suits a public server.',
    ),
  TOCSIN_CORS_ORIGINS: commaSeparated.describe('Comma-separated origins whose pages may call the API.'),
  TOCSIN_FETCH_ALLOW: commaSeparated.describe(
    'Comma-separated private hosts or CIDRs that outbound requests may reach.',
  ),
  TOCSIN_GEO_DATABASES: commaSeparated.describe(
    'Comma-separated files in the MMDB format of MaxMind with the places and networks of addresses. Default: all `*.mmdb` in the folder `enrichment` of the data directory. See [enrich.md](../guide/enrich.md).',
  ),
  TOCSIN_FILE_SOURCES: commaSeparated.describe(
    'Comma-separated directories from which feed sources created through the API may read `file:` addresses.',
  ),
  TOCSIN_SIGMA_MAPPINGS: commaSeparated.describe(
    'Comma-separated directories with log source mappings for Sigma rules, which take precedence over the shipped ones.',
  ),
  TOCSIN_RUNS_AT_ONCE: integer(2, 1, 64).describe(
    'Detection runs, or batches of them, that one process examines concurrently.',
  ),
  TOCSIN_CONTINUOUS_PER_MINUTE: integer(100, 1, 10_000).describe(
    'Events that a continuous detection may match in a minute. With more, it goes back to its slots.',
  ),
  TOCSIN_SPREAD_SECONDS: integer(120, 0, 3_000).describe(
    'Time over which the runs of one slot are spread: by organization on the embedded log store, by detection on a connection. See [scale.md](../operate/scale.md#a-million-hourly-detections).',
  ),
  TOCSIN_SESSION_IDLE_MINUTES: integer(720, 5, 43_200).describe(
    'How long a session of the console lasts without being used, in minutes.',
  ),
  TOCSIN_SESSION_DAYS: integer(7, 1, 365).describe('How long a session of the console lasts at most, in days.'),
  TOCSIN_OIDC_ISSUER: z
    .url({ protocol: /^https?$/, message: 'must begin with https://' })
    .regex(
      /^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$)/,
      'must begin with https://, except on this machine',
    )
    .optional()
    .describe('Identity provider for single sign-on to the console, as the provider states its issuer.'),
  TOCSIN_OIDC_CLIENT_ID: z.string().min(1).optional().describe('ID of this service at the identity provider.'),
  TOCSIN_OIDC_CLIENT_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe('Secret of this service at the identity provider. Default: none, for a public client with PKCE.'),
  TOCSIN_OIDC_GROUPS: z
    .string()
    .optional()
    .describe(
      'Groups of the identity provider, each with `scopes` and, if it is not `default`, an `organization`, as JSON or the path of a JSON file.',
    ),
  TOCSIN_OIDC_GROUPS_CLAIM: z.string().min(1).default('groups').describe('Claim that lists the groups of a person.'),
  TOCSIN_OIDC_SCOPES: z
    .string()
    .regex(/(^| )openid( |$)/, 'must include openid')
    .default('openid email profile')
    .describe('Scopes that are requested from the identity provider.'),
  HTTPS_PROXY: proxyUrl.describe(
    'Proxy for outbound requests to `https://` addresses, such as `http://proxy.example:3128`. Also in lower case. See [install.md](../operate/install.md#proxy).',
  ),
  HTTP_PROXY: proxyUrl.describe('Proxy for outbound requests to `http://` addresses. Also in lower case.'),
  NO_PROXY: z
    .string()
    .optional()
    .describe(
      'Comma-separated hosts, addresses and CIDRs that are reached without the proxy. A host includes its subdomains. Also in lower case.',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, message: 'must begin with http:// or https://' })
    .optional()
    .describe(
      'Collector that receives traces over OTLP/HTTP, such as `http://localhost:4318`. Default: no traces. See [watch.md](../operate/watch.md#traces) for more of OpenTelemetry’s variables.',
    ),
  OTEL_SDK_DISABLED: z.string().optional().describe('`true`: no traces, even with an endpoint.'),
  TOCSIN_INCIDENT_SPAN_HOURS: hoursBySeverity('48').describe(
    'How far apart hits may be that join an incident by a value that they share. `48,critical=96` sets other hours for a severity. Two hits of different severity join within the mean of both.',
  ),
  TOCSIN_INCIDENT_OTHERS_MAX: integer(3, 0, 1000).describe(
    'How many other entities may have had a value before, so that it still joins hits. Values of more, such as the address of a proxy or a service account, join nothing.',
  ),
  TOCSIN_INCIDENT_MIN_SEVERITY: z
    .enum(severities)
    .default('medium')
    .describe('Severity that at least one hit of an incident has. Weaker hits alone join none.'),
  TOCSIN_INCIDENT_DUE_HOURS: hoursBySeverity('168,critical=4,high=24,medium=72').describe(
    'When an incident is due after it was created, by severity.',
  ),
  TOCSIN_RISK_HALF_LIFE_DAYS: integer(7, 1, 365).describe(
    'After how many days half of the points are gone that a hit added to the risk of its entity.',
  ),
  TOCSIN_RISK_THRESHOLD: integer(100, 1, 100_000).describe(
    'Risk from which the hits of an entity are an incident of their own, however weak and far apart they are. A hit of severity low adds up to 10 points, and a critical one 100.',
  ),
  TOCSIN_KEEP_ROWS_DAYS: integer(30, 1, 3_650).describe('Retention of rows and steps without a hit, in days.'),
  TOCSIN_KEEP_HITS_DAYS: integer(365, 1, 3_650).describe('Retention of hits after they were last seen, in days.'),
  TOCSIN_KEEP_RUNS_DAYS: integer(400, 31, 3_650).describe('Retention of runs and their steps, in days.'),
  TOCSIN_KEEP_LOGS_DAYS: integer(90, 1, 3_650).describe('Retention of logs after they were received, in days.'),
  TOCSIN_KEEP_OUTBOX_DAYS: integer(7, 1, 3_650).describe('Retention of the bodies of deliveries, in days.'),
  TOCSIN_KEEP_AUDIT_DAYS: integer(3_650, 30, 36_500).describe('Retention of audit entries, in days.'),
});
