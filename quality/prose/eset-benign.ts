import type { Campaign } from './eset-campaigns.ts';

// Hosts of the publisher and its references.
const referenceHost =
  /(?:^|\.)(?:welivesecurity\.com|eset\.com|esetstatic\.com|virusradar\.com|misp-project\.org|virustotal\.com|github\.com|microsoft\.com|mitre\.org|wikipedia\.org|google\.com|blackhat\.com|virusbulletin\.com)$/;

/**
 * Lists values of the text that are not network indicators: gold file names, links to the publisher and to references, detection names,
 * versions, libraries. Excludes the hosts and addresses of the gold list.
 */
export function listBenignValues({ text, gold }: Campaign): Set<string> {
  const benign = new Set<string>();
  const add = (value: string): void => void benign.add(value.toLowerCase().replace(/[\\/]$/, ''));
  for (const { value, inText } of gold['filename'] ?? []) if (inText) add(value.split(/[\\/]/).at(-1)!);
  for (const match of text.matchAll(/\bhttps?:\/\/([\w.-]+)[^\s[\]|`"<>)]*/g)) {
    if (!referenceHost.test(match[1]!)) continue;
    add(match[0].replace(/[.,]+$/, ''));
    add(match[1]!);
  }
  for (const match of text.matchAll(
    /\b(?:Win32|Win64|MSIL|WinGo|JS|VBS|VBA|Python|Linux|OSX|Android|Java|PHP|HTML|SWF|PowerShell|BAT)\/[\w.-]+/g,
  )) {
    add(match[0]);
    add(match[0].slice(match[0].indexOf('/') + 1));
  }
  for (const match of text.matchAll(/\b(?:version|v)\.?\s?(\d+(?:\.\d+){1,3})\b/gi)) add(match[1]!);
  for (const match of text.matchAll(/\b[\w-]+\.(?:dll|so|sys|dylib|jar|ocx)(?:\.\d+)*\b/gi)) add(match[0]);
  const network = ['domain', 'ipv4', 'ipv6', 'url', 'hostname'].flatMap((type) => gold[type] ?? []);
  for (const { value } of network) benign.delete(value.toLowerCase());
  benign.delete('');
  return benign;
}
