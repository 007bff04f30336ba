import {
  matching,
  normalizeRegistryKey,
  toLower,
  toNfc,
  normalizeDomain,
  normalizeIpv4,
  normalizeIpv6,
  normalizeUrl,
} from './normalize.ts';
import {
  defineTypes,
  mispAttribute,
  never,
  notedText,
  plainType,
  stixProperty,
  type MispObject,
  noCsv,
} from './indicator-type.ts';

const processObject = (relation: string): MispObject => ({
  name: 'process',
  relation,
  group: 'misc',
  template: '02aeef94-ac23-455c-addb-731757ceafb5',
  version: '10',
});

const certHash = (digits: number) =>
  matching(new RegExp(`^[0-9a-f]{${digits}}$`), (text) => toLower(text.replaceAll(/[:\s]/g, '')));

const certWord = (name: string): RegExp =>
  new RegExp(`^(?:ssl|tls|x509)?(?:cert(?:ificate)?)(?:fingerprint)?${name}$|^x509fingerprint${name}$`);

/** What malware leaves on a host, and the certificates of servers. */
export const hostTypes = defineTypes({
  registry_key: {
    ...plainType,
    bucket: 'registryKeys',
    example: 'HKEY_LOCAL_MACHINE\\Software\\Evil',
    normalize: normalizeRegistryKey,
    platform: 'windows',
    csv: {
      column: /^(?:windows_)?reg(?:istry)?_?(?:keys?|paths?)$/,
      word: /^(?:(?:windows)?registry(?:key|path)?|regkey)s?$/,
    },
    stix: stixProperty('windows-registry-key', ['key'], {
      // The hive must be spelled out (STIX 2.1, section 6.17). `(HKLM|HKCU)\\Run` is a search pattern and not a key.
      hasObservable: (key) => key.startsWith('HKEY_'),
      // As in examples of the specification.
      readFrom: ['win-registry-key:key'],
    }),
    misp: mispAttribute('Persistence mechanism', 'regkey', { relations: ['registry-key key'] }),
  },
  process_name: {
    ...plainType,
    bucket: 'processes',
    example: 'evil.exe',
    normalize: toNfc,
    csv: { column: /^process_?names?$/, word: /^process(?:name)?(?:es|s)?$/ },
    stix: stixProperty('process', ['image_ref', 'name'], {
      hasObservable: never,
      readFrom: ['process:name', 'process:binary_ref.name'],
    }),
    misp: {
      ...notedText,
      object: processObject('name'),
      readFrom: ['process-name'],
      relations: ['process name', 'process image'],
    },
  },
  command_line: {
    ...plainType,
    bucket: 'processes',
    example: 'evil.exe -enc SQBFAFgA',
    normalize: toNfc,
    proseScore: 0.4,
    csv: {
      column: /^(?:process_)?(?:command|cmd)_?lines?$/,
      word: /^(?:command(?:line)?|cmd(?:line)?)s?$/,
    },
    stix: stixProperty('process', ['command_line'], { hasObservable: never }),
    misp: {
      ...notedText,
      object: processObject('command-line'),
      relations: ['process command-line', 'command-line value'],
    },
  },
  cert_sha1: {
    ...plainType,
    bucket: 'certs',
    example: 'c3'.repeat(20),
    normalize: certHash(40),
    csv: { column: /^cert_sha_?1$/, word: certWord('sha1') },
    stix: stixProperty('x509-certificate', ['hashes', 'SHA-1'], { readFrom: ['app:cert.sha1'] }),
    misp: mispAttribute('Network activity', 'x509-fingerprint-sha1', { relations: ['android-app certificate'] }),
  },
  cert_sha256: {
    ...plainType,
    bucket: 'certs',
    example: 'c3'.repeat(32),
    normalize: certHash(64),
    csv: { column: null, word: certWord('sha256') },
    stix: stixProperty('x509-certificate', ['hashes', 'SHA-256'], { readFrom: ['app:cert.sha256'] }),
    misp: mispAttribute('Network activity', 'x509-fingerprint-sha256', {
      relations: ['android-app certificate-sha256'],
    }),
  },
  cert_serial: {
    ...plainType,
    bucket: 'certs',
    example: '0a1b2c3d4e5f',
    normalize: matching(/^[0-9a-f]{1,64}$/, (text) => text.replaceAll(/[:\s-]/g, '').toLowerCase()),
    stix: stixProperty('x509-certificate', ['serial_number']),
    misp: {
      ...notedText,
      object: {
        name: 'x509',
        relation: 'serial-number',
        group: 'network',
        template: 'd1ab756a-26b5-4349-9f43-765630f0911c',
        version: '14',
      },
      relations: ['x509 serial-number'],
    },
  },
});

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
