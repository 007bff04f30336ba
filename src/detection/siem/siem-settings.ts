import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

/** Parts of the settings of several SIEMs. */
export const httpAddress = boundedString({ max: 500 }, z.url({ protocol: /^https?$/ }))
  .refine((text) => !/^https?:\/\/[^/]*@/.test(text), 'must not hold a user name or password')
  .transform((text) => text.replace(/\/+$/, ''))
  .describe('https; http only where TOCSIN_FETCH_ALLOW names the host.');

export const caCertificate = boundedString({ max: 100_000 })
  .regex(/^-----BEGIN CERTIFICATE-----/, 'must be a certificate in PEM')
  .optional()
  .describe('A certificate to trust beside the public ones, PEM.');

/** A column as it stands in a query, of a table or not; quoted where its name needs it. */
export const columnName = boundedString({ max: 200 }).regex(
  /^(?:[\w@]+|"[^"\\]+"|`[^`\\]+`)(?:\.(?:[\w@]+|"[^"\\]+"|`[^`\\]+`))*$/,
  'must be the name of a column',
);

export const fieldName = boundedString({ max: 200 }).regex(/^[\w@.-]+$/, 'must be the name of a field');

export const userPassword = z.strictObject({
  user: boundedString({ min: 1, max: 255 }),
  password: boundedString({ min: 1, max: 1000 }),
});

export const buildBasicAuth = ({ user, password }: z.infer<typeof userPassword>): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** The host of an address that is not https. */
export function findPlainHttpHost(
  settings: Record<string, unknown>,
  ...fields: string[]
): { field: string; host: string } | undefined {
  for (const field of fields) {
    const url = new URL(String(settings[field]));
    if (url.protocol === 'http:') return { field, host: url.hostname.replace(/^\[(.*)\]$/, '$1') };
  }
  return undefined;
}
