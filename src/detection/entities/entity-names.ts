import { isIPv4, isIPv6 } from 'node:net';
import wellKnown from './well-known-names.json' with { type: 'json' };

/** Types of entities. An entity whose names have several types is of the first of them in this order. */
export const entityTypes = [
  'user',
  'host',
  'role',
  'account',
  'service',
  'access_key',
  'ip',
  'domain',
  'hash',
  'url',
  'file',
  'process',
  'bucket',
  'country',
  'resource',
  'entity',
] as const;
export type EntityType = (typeof entityTypes)[number];

/** A value as a log has it. `type`: null if only its form is known. `host`: where the value is a local account, the machine that it is on. */
export type RawName = { type: string | null; value: string; host?: string | null | undefined };

/** A name in the form in which it is compared. */
export type EntityName = { type: EntityType; name: string };

/** The domains and cloud accounts of the organization, as `toOwnNames` returns them. */
export type OwnNames = ReadonlySet<string>;

/** The entity of a raw name. `key` is the same for all its names. */
export type EntityKey = EntityName & {
  key: string;
  /** Why the raw name is a name of the entity, as a sentence. */
  why: string;
  /** True for a name that different things have, such as `root` or `127.0.0.1`. It connects nothing. */
  isShared: boolean;
};

const accounts = new Set(wellKnown.accounts);
const authorities = new Set(wellKnown.authorities);
const hosts = new Set(wellKnown.hosts);
const addresses = new Set(wellKnown.addresses);
const publicMail = new Set(wellKnown.mailDomains);
const typesByName = new Set<string>(entityTypes);
const caseSensitive = new Set<EntityType>(['access_key', 'url', 'file', 'process', 'resource', 'entity', 'service']);

const windowsAccount = /^([^\\/:*?"<>|]+)\\([^\\/:*?"<>|]+)$/;
const mailAddress = /^([^@\s]+)@([^@\s]+)$/;
const iamUser = /^arn:(aws[^:]*):iam::(\d*):user\/(?:.*\/)?([\w+=,.@-]+)$/i;
const iamRole = /^arn:(aws[^:]*):iam::(\d*):role\/(?:.*\/)?([\w+=,.@-]+)$/i;
const assumedRole = /^arn:(aws[^:]*):sts::(\d*):assumed-role\/([\w+=,.@-]+)(?:\/([\w+=,.@-]+))?$/i;
const iamRoot = /^arn:aws[^:]*:iam::(\d+):root$/i;
const ssoRole = /^awsreservedsso_/i;
/** All but those of domains and of machines, which begin with `S-1-5-21`. */
const localSid = /^s-1-(?:[0-4]|5-(?!21-)\d{1,2})(?:-|$)/i;
const cloudAccount = /^\d+$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const accessKey = /^(?:AKIA|ASIA)[A-Z0-9]{12,}$/;

/**
 * Returns the own names of an organization from its domains (`halden.example`), NetBIOS domains (`HALDEN`) and cloud accounts (`111122223333`). The NetBIOS
 * name of a domain is its first label unless somebody chose another. Domains in which everybody can have an address are left out.
 */
export function toOwnNames(values: Iterable<string>): OwnNames {
  const own = new Set<string>();
  for (const value of values) {
    const name = value
      .trim()
      .toLowerCase()
      .replace(/^@|\.$/g, '');
    if (name === '' || publicMail.has(name)) continue;
    own.add(name);
    if (!name.includes('.')) continue;
    own.add(`${name.slice(0, name.indexOf('.'))}\\`);
  }
  return own;
}

export const toKey = ({ type, name }: EntityName): string => `${type}:${name}`;

/** Returns a raw name in the form in which names are compared, which differs from it in case, white space and notation only. */
export function foldName({ type, value, host }: RawName): EntityName {
  const trimmed = value.trim();
  const lower = trimmed.toLowerCase();
  const kind = inferType(type, trimmed);
  if (kind === 'ip') return { type: kind, name: foldAddress(lower) };
  if (kind === 'host') return { type: kind, name: lower.replaceAll(/^[\\\s]+|[.\s]+$/g, '') };
  if (kind === 'domain') return { type: kind, name: lower.replace(/[.\s]+$/, '') };
  if (kind === 'account') return { type: kind, name: iamRoot.exec(lower)?.[1] ?? lower };
  if (kind === 'role') return { type: kind, name: foldRole(lower) };
  if (kind === 'user') return { type: kind, name: foldUser(lower, host) };
  return { type: kind, name: caseSensitive.has(kind) ? trimmed : lower };
}

/** The form of some values says more than the field that they are in. */
function inferType(type: string | null, value: string): EntityType {
  if (isIPv4(value) || isIPv6(value.replace(/^\[(.*)\]$/, '$1'))) return 'ip';
  if (iamUser.test(value)) return 'user';
  const session = assumedRole.exec(value);
  if (session) return ssoRole.test(session[3]!) && session[4] ? 'user' : 'role';
  if (iamRole.test(value)) return 'role';
  if (iamRoot.test(value)) return 'account';
  if (accessKey.test(value)) return 'access_key';
  const isGiven = type !== null && typesByName.has(type) && type !== 'entity';
  if (isGiven && type !== 'account') return type as EntityType;
  if (windowsAccount.test(value) || mailAddress.test(value)) return 'user';
  // Most logs call the account that somebody signs in with so. Cloud accounts have numbers.
  return isGiven ? (cloudAccount.test(value) ? 'account' : 'user') : 'entity';
}

function foldAddress(text: string): string {
  const plain = text.replace(/^\[(.*)\]$/, '$1');
  if (!isIPv6(plain) || plain.includes('%')) return plain;
  const short = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!mapped) return short;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Sessions of a role and its path do not tell roles of an account apart. */
function foldRole(name: string): string {
  const match = iamRole.exec(name) ?? assumedRole.exec(name);
  return match ? `arn:${match[1]}:iam::${match[2]}:role/${match[3]}` : name;
}

/** The name of an IAM user is unique in its account, whatever its path. A local account is a name on a host. */
function foldUser(name: string, host: string | null | undefined): string {
  const user = iamUser.exec(name);
  if (user) return `arn:${user[1]}:iam::${user[2]}:user/${user[3]}`;
  const [, authority, local] = windowsAccount.exec(name) ?? [];
  const isLocal = authority === undefined ? accounts.has(name) : authorities.has(authority);
  const plain = isLocal && local !== undefined ? local : name;
  return isLocal && host ? `${foldName({ type: 'host', value: host }).name}\\${plain}` : plain;
}

/**
 * Returns the entity that a raw name names by the rules alone: the same account with and without the organization's own domains and cloud accounts, and
 * the same host with its short and its long name. Names of other domains and accounts, and well-known accounts, keep them. Applied to the result,
 * it returns the same entity.
 */
export function nameEntity(raw: RawName, own: OwnNames): EntityKey {
  const folded = foldName(raw);
  const shorter = folded.type === 'user' ? stripUser(folded.name, own) : stripHost(folded, own);
  // A name that means something else without its domain keeps it, such as an address.
  const isSame =
    shorter && toKey(foldName({ type: folded.type, value: shorter.name })) === `${folded.type}:${shorter.name}`;
  const stripped = isSame ? shorter : undefined;
  const name = stripped?.name ?? folded.name;
  const entity = { type: folded.type, name };
  return {
    ...entity,
    key: toKey(entity),
    why: stripped?.why ?? (name === raw.value ? 'It is the name of the entity.' : foldingOf(entity, raw.value)),
    isShared: isSharedName(entity),
  };
}

const foldingOf = ({ type, name }: EntityName, value: string): string => {
  if (name === value.trim().toLowerCase()) return `It differs from \`${name}\` in upper and lower case only.`;
  if (type === 'role') return `It is a path or a session of the role \`${name}\`.`;
  return `It is another notation of \`${name}\`.`;
};

type Stripped = { name: string; why: string };

function stripUser(name: string, own: OwnNames): Stripped | undefined {
  const shorten = (account: string): string => stripUser(account, own)?.name ?? account;
  const [, authority, account] = windowsAccount.exec(name) ?? [];
  if (authority !== undefined && account !== undefined) {
    if ((own.has(authority) || own.has(`${authority}\\`)) && !accounts.has(account))
      return { name: shorten(account), why: `\`${authority.toUpperCase()}\` is a domain of the organization.` };
    const host = stripHost({ type: 'host', name: authority }, own);
    // No machine has the NetBIOS name of its domain.
    return host && !own.has(`${host.name}\\`) ? { name: `${host.name}\\${account}`, why: host.why } : undefined;
  }
  const user = iamUser.exec(name);
  if (user)
    return own.has(user[2]!) && !accounts.has(user[3]!)
      ? { name: shorten(user[3]!), why: `It is the IAM user of the own account ${user[2]}.` }
      : undefined;
  const session = assumedRole.exec(name);
  if (session)
    return own.has(session[2]!) && !accounts.has(session[4]!)
      ? {
          name: shorten(session[4]!),
          why: `It is the single sign-on session of this user in the own account ${session[2]}.`,
        }
      : undefined;
  const [, local, domain] = mailAddress.exec(name) ?? [];
  return local !== undefined && own.has(domain!) && !accounts.has(local)
    ? { name: local, why: `\`${domain}\` is a domain of the organization.` }
    : undefined;
}

function stripHost({ type, name }: EntityName, own: OwnNames): Stripped | undefined {
  const dot = name.indexOf('.');
  if (type !== 'host' || dot <= 0) return undefined;
  const domain = name.slice(dot + 1);
  const labels = domain.split('.');
  const isOwn = labels.some((_, at) => own.has(labels.slice(at).join('.')));
  return isOwn && !hosts.has(name.slice(0, dot))
    ? { name: name.slice(0, dot), why: `\`${domain}\` is a domain of the organization.` }
    : undefined;
}

/** Returns whether different things have this name. */
function isSharedName({ type, name }: EntityName): boolean {
  if (name === '' || name === '*' || name === '-') return true;
  if (type === 'user' || type === 'entity') return accounts.has(name.toLowerCase()) || localSid.test(name);
  if (type === 'host') return hosts.has(name);
  return type === 'ip' && (addresses.has(name) || name.startsWith('127.'));
}

/**
 * Returns the part of a name that all names have which the rules can make one entity, whatever the organization's own domains are. Names with the same
 * stem can be different entities.
 */
export function toStem(name: EntityName): string {
  if (name.type === 'host') return name.name.split('.')[0]!;
  if (name.type !== 'user') return name.name;
  const longer = [assumedRole.exec(name.name)?.[4], iamUser.exec(name.name)?.[3], windowsAccount.exec(name.name)?.[2]];
  const account = longer.find((part) => part !== undefined) ?? mailAddress.exec(name.name)?.[1];
  return account === undefined ? name.name : toStem({ type: 'user', name: account });
}

/** A name is spelled with at most this many of the own names. */
const spelledMax = 100;

/** Returns the names that the rules join with a user or a host: with each of the own domains and cloud accounts. */
export function spellName({ type, name }: EntityName, own: OwnNames): string[] {
  const listed = [...own].slice(0, spelledMax);
  if (type === 'host') return [name, ...listed.filter((one) => one.includes('.')).map((domain) => `${name}.${domain}`)];
  if (type !== 'user') return [name];
  return [
    name,
    ...listed.map((one) => {
      if (/^\d+$/.test(one)) return `arn:aws:iam::${one}:user/${name}`;
      if (one.endsWith('\\')) return `${one}${name}`;
      return one.includes('.') ? `${name}@${one}` : `${one}\\${name}`;
    }),
  ];
}
