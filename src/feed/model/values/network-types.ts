import { normalizeDomain, normalizeIpv4, normalizeIpv6, normalizeUrl } from './normalize.ts';
import { defineTypes, mispAttribute, noCsv, stixProperty } from './indicator-type.ts';

const common = { digestDigits: null, platform: null, proseScore: 0.5 } as const;
const owner = '(?:dst|src|dest|destination|source|remote|attackers?|malicious|c2|cc|cnc|network|sender)?';

/** Lists and MISP have one name for addresses of both versions, whose form shows the version. */
const address = {
  ...common,
  ttlDays: 30,
  isRecognized: true,
  logField: 'address',
  csv: noCsv,
  misp: mispAttribute('Network activity', 'ip-dst', { readFrom: [] }),
} as const;

export const networkTypes = defineTypes({
  ipv4: {
    ...address,
    bucket: 'ipv4',
    example: '198.51.100.7',
    normalize: normalizeIpv4,
    stix: stixProperty('ipv4-addr', ['value']),
  },
  ipv6: {
    ...address,
    bucket: 'ipv6',
    example: '2001:db8::7',
    normalize: normalizeIpv6,
    stix: stixProperty('ipv6-addr', ['value']),
  },
  url: {
    ...common,
    bucket: 'urls',
    ttlDays: 30,
    example: 'http://evil.example/a',
    normalize: normalizeUrl,
    isRecognized: false,
    logField: 'url',
    csv: { column: /^(?:\w+_)?ur[li]s?(?:_(?:full|original))?$/, word: new RegExp(`^${owner}ur[li]s?$`) },
    stix: stixProperty('url', ['value'], { readFrom: ['media-content:url'] }),
    misp: mispAttribute('Network activity', 'url'),
  },
  domain: {
    ...common,
    bucket: 'domains',
    ttlDays: 180,
    example: 'evil.example',
    normalize: normalizeDomain,
    isRecognized: true,
    logField: 'domain',
    csv: {
      column: /^(?:\w+_)?(?:domains?|domain_names?|hosts?|hostnames?|fqdns?)$/,
      word: new RegExp(`^${owner}(?:domain(?:name)?|host(?:name)?|fqdn)s?(?:port)?$`),
    },
    stix: stixProperty('domain-name', ['value'], {
      readFrom: [
        'network-traffic:extensions.http-request-ext.request_header.Host',
        // OpenCTI.
        'hostname:value',
        'x-opencti-hostname:value',
      ],
    }),
    misp: mispAttribute('Network activity', 'domain', { readFrom: ['domain', 'hostname'] }),
  },
});
