import { isObject, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import type { NamesFile } from '../reference-files.ts';

/** The kind of name per cluster of MISP galaxy (https://github.com/MISP/misp-galaxy), most reliable clusters first. */
export const galaxyKinds: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'threat-actor': 'threat-actor',
    'microsoft-activity-group': 'threat-actor',
    '360net': 'threat-actor',
    malpedia: 'malware',
    ransomware: 'ransomware',
    rat: 'malware',
    stealer: 'malware',
    backdoor: 'malware',
    banker: 'malware',
    botnet: 'malware',
    wiper: 'malware',
    cryptominers: 'malware',
    android: 'malware',
    stalkerware: 'malware',
    'exploit-kit': 'exploit-kit',
    tool: 'tool',
    tds: 'tool',
    'rmm-tool': 'tool',
  }),
);

export const isGalaxyCluster = (document: unknown): document is JsonObject =>
  isObject(document) && Array.isArray(document['values']);

/** Returns the names of a cluster file. `stem` is its file name without the extension. */
export function readGalaxyCluster(cluster: JsonObject, stem: string): NamesFile['names'] {
  const kind = galaxyKinds.get(stem) ?? galaxyKinds.get(asText(cluster['type']) ?? '');
  if (!kind) throw new Error(`${stem} is not a cluster of actors, malware or tools`);
  return asObjects(cluster['values']).flatMap((one) => {
    const name = asText(one['value']);
    const meta = isObject(one['meta']) ? one['meta'] : {};
    return name ? [{ name: name.slice(0, 1_000), kind, aliases: asTexts(meta['synonyms']).slice(0, 1_000) }] : [];
  });
}
