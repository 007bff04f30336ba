import { z } from 'zod';
import { parseJsonSetting } from '../../platform/lib/settings-input.ts';
import { parseLogsUrl } from '../../platform/lib/storage/logs-url.ts';
import { isDatasetName } from '../log-store/catalog/catalog.ts';

/** The formats of log files, with the dataset of their events unless the settings name another. */
const folderFormats = { cloudtrail: 'cloudtrail', 'vpc-flow': 'vpcflow' } as const;
type FolderFormat = keyof typeof folderFormats;

const Location = z.string().transform((text, context) => {
  if (text.startsWith('/')) return { path: text };
  const bucket = parseLogsUrl(text);
  if (bucket !== null && typeof bucket !== 'string') return { bucket };
  const problem = bucket === null ? 'must be the absolute path of a folder, or begin with s3://' : bucket;
  context.addIssue(problem);
  return z.NEVER;
});

const Folder = z
  .strictObject({
    /** An absolute path, or `s3://BUCKET/PREFIX?region=REGION&endpoint=URL`. */
    location: Location,
    format: z.enum(Object.keys(folderFormats) as [FolderFormat, ...FolderFormat[]]),
    /** API key with `logs:write`. Its organization receives the events. */
    key: z.string().min(20, 'must be an API key'),
    dataset: z.string().refine(isDatasetName, 'must be a valid dataset name').optional(),
    /** Objects that were last modified earlier are not read. */
    days: z.int().min(1).max(90).default(3),
    everySeconds: z.int().min(10).max(86_400).default(60),
  })
  .transform(({ dataset, ...settings }) => ({ ...settings, dataset: dataset ?? folderFormats[settings.format] }));
export type FolderSettings = z.infer<typeof Folder>;

const Folders = z.record(z.string().regex(/^[\w.-]{1,40}$/), Folder);

/** Parses TOCSIN_LOG_FOLDERS, which is JSON or the path of a JSON file. Throws an error that states the problem. */
export function readFolderSettings(text: string | undefined): Record<string, FolderSettings> {
  return text === undefined ? {} : parseJsonSetting('TOCSIN_LOG_FOLDERS', text, Folders);
}

const Listener = z.strictObject({
  port: z.int().min(0).max(65_535),
  host: z.string().min(1).default('127.0.0.1'),
  /** API key with `logs:write`. Its organization receives the events. */
  key: z.string().min(20, 'must be an API key'),
  dataset: z.string().refine(isDatasetName, 'must be a valid dataset name').default('syslog'),
  /** Without it, messages arrive as plain text. */
  tls: z
    .strictObject({
      /** Paths of PEM files. */
      certificate: z.string().min(1),
      privateKey: z.string().min(1),
      /** Clients must then have a certificate that one of these authorities has signed. */
      clientAuthorities: z.string().min(1).optional(),
    })
    .optional(),
});
export type SyslogListenerSettings = z.infer<typeof Listener>;

const Listeners = z.record(z.string().regex(/^[\w.-]{1,40}$/), Listener);

/** Parses TOCSIN_SYSLOG, which is JSON or the path of a JSON file. Throws an error that states the problem. */
export function readSyslogSettings(text: string | undefined): Record<string, SyslogListenerSettings> {
  return text === undefined ? {} : parseJsonSetting('TOCSIN_SYSLOG', text, Listeners);
}
