import { isIP } from 'node:net';
import { extractBareHost } from '../../platform/lib/outbound-http/addresses.ts';
import { listEnclosingNetworks } from '../model/values/networks.ts';
import { isIndicatorNetwork } from '../model/values/observables.ts';
import type { LookupMatch } from '../model/vocabulary.ts';
import { listParents, ownsSubdomains } from '../reference-data/shared-suffixes.ts';

/** A value whose indicator also applies to a looked-up value, and why. */
export type CoveringValue = { form: string; match: LookupMatch };

/**
 * Returns the values that cover a value, by the rules of sightings: the host of a URL, the networks of an address, and the domains above a host
 * up to the one that its owner registered. A mail address is covered by its host.
 */
export function listCoveringValues(type: string, form: string): CoveringValue[] {
  if (type === 'url') return listOfHost(extractBareHost(form), 'url_host');
  if (type === 'email') return listOfHost(form.slice(form.lastIndexOf('@') + 1), 'mail_host');
  return ['ipv4', 'ipv6', 'cidr', 'domain'].includes(type) ? listAbove(form) : [];
}

const listOfHost = (host: string, match: LookupMatch): CoveringValue[] =>
  host === '' ? [] : [{ form: host, match }, ...listAbove(host)];

const listAbove = (host: string): CoveringValue[] =>
  isIP(host) || host.includes('/')
    ? listEnclosingNetworks(host)
        .filter(isIndicatorNetwork)
        .map((form) => ({ form, match: 'network' }))
    : listParents(host)
        .filter(ownsSubdomains)
        .map((form) => ({ form, match: 'parent_domain' }));
