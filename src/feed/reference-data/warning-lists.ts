import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { findSharedSuffix } from './shared-suffixes.ts';

/** A MISP warning list (https://github.com/MISP/misp-warninglists). `type` determines how entries match. */
export type WarningList = { id: string; name: string; type: string; list: string[] };

// Only lists of harmless values. Lists of cloud ranges, dynamic DNS zones and URL shorteners are not used.
const ids = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const hostListIds = ids(`
  alexa cisco_top1000 moz-top500 google microsoft microsoft-office365 microsoft-win10-connection-endpoints crl-hostname captive-portals
  security-provider-blogpost automated-malware-analysis university_domains whats-my-ip findip-host bank-website rfc6761 microsoft-mdca-proxy
`);
const addressListIds = ids(`
  public-dns-v4 public-dns-v6 crl-ip googlebot multicast rfc1918 rfc3849 rfc5735 rfc6598 microsoft-office365-ip
`);
const hashListIds = ids('ti-falsepositives common-ioc-false-positive empty-hashes eicar.com');

export const warningListIds: ReadonlySet<string> = new Set([...hostListIds, ...addressListIds, ...hashListIds]);

/** Returns the name of the warning list that contains a normalized value of an indicator type, or undefined. */
export type WarningListLookup = (type: string, value: string) => string | undefined;

export function createWarningListLookup(lists: WarningList[]): WarningListLookup {
  const hosts = new Map<string, { name: string; below: boolean }>();
  const hashes = new Map<string, string>();
  const addresses = new Map<string, string>();
  const ranges: { name: string; block: BlockList }[] = [];
  for (const { id, name, type, list } of lists) {
    if (hostListIds.has(id))
      for (const entry of list)
        hosts.set(entry.toLowerCase().replace(/^\.|\.$/g, ''), {
          name,
          below: type === 'hostname' || entry.startsWith('.'),
        });
    if (hashListIds.has(id)) for (const entry of list) hashes.set(entry.toLowerCase(), name);
    if (!addressListIds.has(id)) continue;
    for (const entry of list) if (!entry.includes('/')) addresses.set(entry.toLowerCase(), name);
    ranges.push({ name, block: toBlockList(list.filter((entry) => entry.includes('/'))) });
  }
  const hostReason = (host: string): string | undefined => {
    const shared = findSharedSuffix(host);
    for (let at = -1; ;) {
      const name = at < 0 ? host : host.slice(at + 1);
      if (name === shared && at >= 0) return undefined;
      const found = hosts.get(name);
      if (found && (at < 0 || found.below)) return found.name;
      at = host.indexOf('.', at + 1);
      if (at < 0) return undefined;
    }
  };
  return (type, value) => {
    if (type === 'domain') return hostReason(value);
    if (type === 'url') return hostReason(URL.parse(value)?.hostname ?? '');
    if (type === 'ipv4' || type === 'ipv6')
      return addresses.get(value) ?? ranges.find(({ block }) => block.check(value, type))?.name;
    return hashes.get(value);
  };
}

/** Builds a block list of the valid ranges. Invalid entries are skipped so that they do not prevent the start. */
function toBlockList(list: string[]): BlockList {
  const block = new BlockList();
  for (const entry of list) {
    const [, address = '', prefix] = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(entry.trim()) ?? [];
    const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0;
    // A prefix of 0 would make all addresses harmless.
    if (!(Number(prefix) > 0 && Number(prefix) <= bits)) continue;
    block.addSubnet(address, Number(prefix), bits === 32 ? 'ipv4' : 'ipv6');
  }
  return block;
}
