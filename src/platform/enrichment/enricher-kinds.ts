import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { z } from 'zod';
import { ExternalError } from '../lib/external-error.ts';
import { createAllowList, isPublicAddress } from '../lib/outbound-http/addresses.ts';
import { requestText, findTemplateProblem } from '../lib/outbound-http/request-text.ts';
import { boundedString } from '../lib/text/bounded-text.ts';

const valueTypes = ['ip', 'domain', 'hash'] as const;
export type ValueType = (typeof valueTypes)[number];

const hashPattern = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i;
const domainPattern = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i;
/** Names that only an internal network resolves (RFC 6762, RFC 8375, and customary ones). */
const internalDomain = /\.(?:local|localdomain|internal|intranet|lan|corp|home|arpa|test|invalid)$/i;

/** Returns what enrichers may look up: a public address, a domain or a hash. Undefined for anything else, which never leaves the service. */
export function findValueType(value: string): ValueType | undefined {
  if (isIP(value) !== 0) return isPublicAddress(value) ? 'ip' : undefined;
  if (hashPattern.test(value)) return 'hash';
  return domainPattern.test(value) && !internalDomain.test(value) ? 'domain' : undefined;
}

/** What is known of a value, by name. Empty: nothing. */
export type EnrichmentFields = Readonly<Record<string, string | number>>;

type LookUp<Settings, Credentials> = { settings: Settings; credentials: Credentials; allow: readonly string[]; signal: AbortSignal }; // prettier-ignore

/** A kind of enricher: everything that any room asks about it. `lookUp` throws an `ExternalError` if it gets no answer. */
type KindDefinition<Settings, Credentials> = {
  label: string;
  description: string;
  settings: z.ZodType<Settings>;
  credentials: z.ZodType<Credentials>;
  typesOf: (settings: Settings) => readonly ValueType[];
  /** The origin that credentials are sent to. Null: none is. */
  originOf: (settings: Settings) => string | null;
  lookUp: (value: string, options: LookUp<Settings, Credentials>) => Promise<EnrichmentFields>;
};

export type EnricherKindDefinition = KindDefinition<Record<string, unknown>, Record<string, unknown>>;

/** Checks a definition. Its functions are only called with what its own schemas parsed. */
const defineKind = <Settings, Credentials>(kind: KindDefinition<Settings, Credentials>): EnricherKindDefinition =>
  kind as unknown as EnricherKindDefinition;

const none = z.strictObject({});
const namesMax = 10;
const fieldCharsMax = 500;
const timeoutMs = 5_000;

const dns = defineKind({
  label: 'Names of addresses (DNS)',
  description: 'The names that the owner of an address gave it. Sends the address to a name server.',
  settings: z.strictObject({
    server: boundedString({ min: 3, max: 100 })
      .regex(/^(?:[\d.]+|\[[\da-f:]+\])(?::\d{1,5})?$/i, 'must be an address, with a port if it is not 53')
      .optional()
      .describe('Name server, such as 192.0.2.53 or 192.0.2.53:5353. Default: that of the machine.'),
  }),
  credentials: none,
  typesOf: () => ['ip'],
  originOf: () => null,
  lookUp: async (value, { settings: { server }, allow }) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
    if (server !== undefined) {
      const host = server.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
      if (!isPublicAddress(host) && !createAllowList(allow)(host, host))
        throw new ExternalError(`${host} is not a public address. TOCSIN_FETCH_ALLOW can permit it`);
      resolver.setServers([server]);
    }
    const names = await resolver.reverse(value).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return [];
      throw new ExternalError(`the name server did not answer (${error.code ?? error.message})`, { cause: error });
    });
    return names.length === 0 ? {} : { names: names.slice(0, namesMax).join(', ').slice(0, fieldCharsMax) };
  },
});

const http = defineKind({
  label: 'HTTP look-up',
  description: 'A service that answers with JSON at an address with the value. Sends the value to it.',
  settings: z.strictObject({
    url: boundedString({ min: 1, max: 2_000 })
      .refine(
        (text) => findTemplateProblem(text) === undefined && text.includes('{value}') && !/#|\{(?!value\})/.test(text),
        {
          message: 'must be an http or https URL with a fixed host, and {value} in its path or query',
        },
      )
      .describe(
        'Address with {value} in its path or query, such as https://intel.example.com/ip/{value}. It must answer with JSON.',
      ),
    fields: z
      .array(boundedString({ min: 1, max: 200 }))
      .min(1)
      .max(20)
      .describe('Fields of the answer that are kept, with dots for nested ones. Nothing else is stored or shown.'),
    types: z
      .array(z.enum(valueTypes))
      .min(1)
      .max(valueTypes.length)
      .default(['ip'])
      .describe('What is looked up: public addresses, domains and hashes.'),
    header: boundedString({ min: 1, max: 100 })
      .regex(/^[\w-]+$/, 'must be the name of a header')
      .optional()
      .describe('Header that carries the key, such as X-Api-Key.'),
  }),
  credentials: z.strictObject({
    headerValue: boundedString({ min: 1, max: 4_000 })
      .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
      .optional()
      .describe('The key.'),
  }),
  typesOf: ({ types }) => types,
  originOf: ({ url }) => new URL(url.replaceAll('{value}', 'x')).origin,
  lookUp: async (value, { settings: { url, fields, header }, credentials: { headerValue }, allow, signal }) => {
    const { status, text } = await requestText({
      method: 'GET',
      url: url.replaceAll('{value}', encodeURIComponent(value)),
      headers: { accept: 'application/json', ...(header && headerValue && { [header]: headerValue }) },
      isConfidential: true,
      allow,
      signal,
      timeoutMs,
    });
    if (status === 404) return {};
    if (status !== 200) throw new ExternalError(`the service responded with status ${status}`);
    return pickFields(text, fields);
  },
});

/** Returns the named fields of a JSON object. Lists of plain values are joined. */
function pickFields(text: string, names: readonly string[]): EnrichmentFields {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ExternalError('the answer is not JSON, or longer than 64 KiB');
  }
  const read = (name: string): unknown =>
    name.split('.').reduce<unknown>((value, part) => {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
      return (value as Record<string, unknown>)[part];
    }, answer);
  return Object.fromEntries(
    names.flatMap((name): [string, string | number][] => {
      const parts = [read(name)].flat().filter((part) => ['string', 'number', 'boolean'].includes(typeof part));
      if (parts.length === 0) return [];
      return [
        [
          name,
          parts.length === 1 && typeof parts[0] === 'number' ? parts[0] : parts.join(', ').slice(0, fieldCharsMax),
        ],
      ];
    }),
  );
}

/** The kinds that an organization sets up. */
export const enricherKinds = { dns, http } satisfies Record<string, EnricherKindDefinition>;
export type EnricherKind = keyof typeof enricherKinds;
export const enricherKindNames = Object.keys(enricherKinds) as EnricherKind[];
export const enricherKindOf = (kind: EnricherKind): EnricherKindDefinition => enricherKinds[kind];
