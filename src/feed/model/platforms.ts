import { ownValue } from '../../platform/lib/json/json-values.ts';

/** The platforms of items, which are also the keys of `platformBreakdown`. */
export const platforms = [
  'windows',
  'linux',
  'macos',
  'esxi',
  'network-devices',
  'containers',
  'iaas',
  'saas',
  'identity-provider',
  'office-suite',
  'android',
  'ios',
  'ics',
] as const;
export type Platform = (typeof platforms)[number];

// Other spellings in ATT&CK, STIX bundles and common usage, in lower case with single hyphens.
const aliases: Record<string, Platform> = {
  win: 'windows',
  win32: 'windows',
  'microsoft-windows': 'windows',
  'gnu-linux': 'linux',
  osx: 'macos',
  'os-x': 'macos',
  'mac-os': 'macos',
  'mac-os-x': 'macos',
  mac: 'macos',
  vmware: 'esxi',
  'vmware-esxi': 'esxi',
  network: 'network-devices',
  'network-device': 'network-devices',
  networkdevices: 'network-devices',
  router: 'network-devices',
  firewall: 'network-devices',
  vpn: 'network-devices',
  container: 'containers',
  docker: 'containers',
  kubernetes: 'containers',
  k8s: 'containers',
  aws: 'iaas',
  azure: 'iaas',
  gcp: 'iaas',
  cloud: 'iaas',
  'amazon-web-services': 'iaas',
  'google-cloud': 'iaas',
  'microsoft-azure': 'iaas',
  'identity-providers': 'identity-provider',
  idp: 'identity-provider',
  okta: 'identity-provider',
  entra: 'identity-provider',
  'entra-id': 'identity-provider',
  'azure-ad': 'identity-provider',
  m365: 'office-suite',
  o365: 'office-suite',
  office: 'office-suite',
  'office-365': 'office-suite',
  'microsoft-365': 'office-suite',
  'microsoft-office': 'office-suite',
  'google-workspace': 'office-suite',
  gworkspace: 'office-suite',
  iphone: 'ios',
  ipados: 'ios',
  'apple-ios': 'ios',
  'ics-scada': 'ics',
  scada: 'ics',
  ot: 'ics',
  plc: 'ics',
};

/** Finds a platform by name or alias, ignoring case, with spaces, underscores or slashes accepted for hyphens. */
export function findPlatform(nameOrAlias: string): Platform | undefined {
  const key = nameOrAlias
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_/]+/g, '-');
  if ((platforms as readonly string[]).includes(key)) return key as Platform;
  return ownValue(aliases, key);
}
