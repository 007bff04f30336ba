import { platforms, type Platform } from '../../model/platforms.ts';
import { rememberResults } from '../../../platform/lib/concurrency/shared-calls.ts';
import type { AffectedProduct } from '../../model/item.schema.ts';
import { roundConfidence } from '../../model/source-record.ts';

// Vendor and product as catalogs write them. Cross-platform products have no platform.
const rules: [RegExp, Platform[]][] = [
  [
    /^microsoft\b.*\bwindows\b|^microsoft (win32k|active directory|internet explorer|edge|defender|exchange server|iis|smbv?\d|mshtml|task scheduler)/,
    ['windows'],
  ],
  [/^microsoft\b.*\b(office|word|excel|outlook|powerpoint|365|sharepoint|access)\b/, ['office-suite']],
  [
    /\b(active directory|entra|okta|keycloak|identity manager|access manager|identity services)\b/,
    ['identity-provider'],
  ],
  [/^linux\b|\blinux kernel\b|^(red hat|debian|ubuntu|canonical|gnu|sudo|polkit)\b/, ['linux']],
  [/^apple\b.*\b(macos|mac os|os x)\b/, ['macos']],
  [/^apple\b.*\b(ios|ipados|iphone)\b/, ['ios']],
  [/^apple multiple products/, ['macos', 'ios']],
  [
    /^android\b|^(google|samsung|qualcomm|arm|mediatek)\b.*\b(android|mobile devices|pixel|mali|chipsets?)\b/,
    ['android'],
  ],
  [/\besxi?\b|\bvsphere\b|\bvcenter\b/, ['esxi']],
  [/\b(docker|kubernetes|kubelet|runc|containerd|openshift)\b/, ['containers']],
  [
    /^(d-link|zyxel|tp-link|netgear|draytek|tenda|mikrotik|asus routers?|dasan|juniper|fortinet|sonicwall|citrix|f5|paloalto|palo alto networks|sophos|cisco|ubiquiti|netis|ruckus|array networks|check point|pulse secure|cyberoam|arcadyan|four-faith|totolink|edimax|grandstream|watchguard)\b/,
    ['network-devices'],
  ],
  [
    /\b(routers?|firewalls?|ios x[er]|adaptive security|vpn|gateway|switches)\b|^ivanti (connect secure|policy secure)/,
    ['network-devices'],
  ],
  [
    /^(siemens|rockwell|schneider electric|advantech|delta electronics|unitronics|mitsubishi electric|omron)\b|\b(scada|plc|hmi)\b/,
    ['ics'],
  ],
  [/^(amazon|aws)\b|\b(azure|google cloud)\b/, ['iaas']],
];

/** Returns the platforms that a vendor and product name imply, in vocabulary order. */
export const findProductPlatforms = (vendor: string, product: string): readonly Platform[] =>
  findPlatforms(`${vendor} ${product}`);

// A catalog names the same products again and again.
const findPlatforms = rememberResults((text): readonly Platform[] => {
  const name = text.toLowerCase().replaceAll(/\s+/g, ' ').trim().slice(0, 500);
  const found = new Set(rules.filter(([pattern]) => pattern.test(name)).flatMap(([, names]) => names));
  return platforms.filter((platform) => found.has(platform));
}, 2_000);

const words: Record<Platform, RegExp> = {
  windows: /\bWindows\b|\bWin(?:32|64)\b|\bPowerShell\b|\bActive Directory\b/g,
  linux: /\bLinux\b|\bUbuntu\b|\bDebian\b|\bRed Hat\b|\bCentOS\b/g,
  macos: /\bmacOS\b|\bOS X\b|\bMac OS\b|\bLaunchAgents?\b/g,
  esxi: /\bESXi?\b|\bvCenter\b|\bvSphere\b/g,
  'network-devices':
    /\b(?:routers?|firewall (?:appliances?|devices?)|VPN (?:appliances?|gateways?|devices?)|network devices?|edge devices?|FortiGate|NetScaler|PAN-OS|IOS XE)\b/g,
  containers: /\b(?:Docker|Kubernetes|containerd|container images?|kubelet|Docker Hub)\b/g,
  iaas: /\b(?:AWS|Amazon Web Services|Azure|Google Cloud|GCP|EC2|S3 buckets?|cloud instances?)\b/g,
  saas: /\b(?:SaaS|Salesforce|Slack|GitHub|Snowflake|Dropbox)\b/g,
  'identity-provider': /\b(?:Okta|Entra ID|Azure AD|Azure Active Directory|identity providers?|ADFS|AD FS)\b/g,
  'office-suite': /\b(?:Microsoft 365|Office 365|M365|O365|Google Workspace|Exchange Online)\b/g,
  android: /\bAndroid\b|\bAPKs?\b|\bGoogle Play\b/g,
  ios: /\biOS\b(?! X[ER])|\biPhones?\b|\biPads?\b/g,
  ics: /\b(?:ICS|SCADA|PLCs?|OT networks?|industrial control systems?|HMI)\b/g,
};
const minMentions = 2;
/** Machines, accounts and users of a platform after its name: `Windows and Linux servers`. Such a mention says more than the name alone. */
const machines =
  /^(?:(?:,| and| or|,? as well as)? [A-Z][\w.]*| and| or|,){0,4} (?:systems?|environments?|machines?|servers?|hosts?|endpoints?|devices?|workstations?|computers?|users?|hypervisors?|clusters?|tenants?|malware|trojans?|spyware)\b/;
const machinesMaxChars = 80;

/** Returns the platforms with at least two mentions and at least a tenth of the mentions of the most frequent one. */
export function detectPlatforms(text: string): Platform[] {
  const counts = platforms.map((platform) => ({ platform, count: countMentions(text, words[platform]) }));
  const most = Math.max(...counts.map(({ count }) => count));
  return counts.filter(({ count }) => count >= minMentions && count * 10 >= most).map(({ platform }) => platform);
}

/** Counts a mention with the machines of a platform twice. */
function countMentions(text: string, pattern: RegExp): number {
  let count = 0;
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    count += machines.test(text.slice(end, end + machinesMaxChars)) ? 2 : 1;
  }
  return count;
}

const productsMax = 500;
const versionsMax = 200;
const nameMaxChars = 300;

/** Collects the products of a structured source: one entry per vendor and product with all versions, within limits. */
export function createProductCollector(reliability: number): {
  add: (vendor: string, product: string, versions: string[]) => void;
  products: () => AffectedProduct[];
  platforms: () => Platform[];
} {
  const found = new Map<string, AffectedProduct & { all: Set<string> }>();
  const platforms = new Set<Platform>();
  return {
    add(vendor, product, versions) {
      const names = [clean(vendor), clean(product)] as const;
      const key = names.join('\n').toLowerCase();
      if (names[1] === '' || (!found.has(key) && found.size >= productsMax)) return;
      const known = found.get(key) ?? {
        vendor: names[0],
        product: names[1],
        versions: [],
        confidence: roundConfidence(reliability),
        all: new Set<string>(),
      };
      for (const version of versions.map(clean)) if (version && known.all.size < versionsMax) known.all.add(version);
      found.set(key, known);
      for (const platform of findProductPlatforms(...names)) platforms.add(platform);
    },
    products: () => [...found.values()].map(({ all, ...product }) => ({ ...product, versions: [...all] })),
    platforms: () => [...platforms],
  };
}

/** Sources write `n/a` for a vendor or product that they do not state. */
const clean = (name: string): string => {
  const text = name.trim();
  return /^(?:n\/a|unspecified)$/i.test(text) ? '' : text.slice(0, nameMaxChars).toWellFormed();
};
