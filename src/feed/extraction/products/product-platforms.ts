import { rememberResults } from '../../../platform/lib/concurrency/shared-calls.ts';
import { platforms, type Platform } from '../../model/platforms.ts';

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
