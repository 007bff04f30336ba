import { z } from 'zod';
import { parseJsonSetting } from '../../../platform/lib/settings-input.ts';
import { isDatasetName } from '../../log-store/catalog/dataset-name.ts';

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
