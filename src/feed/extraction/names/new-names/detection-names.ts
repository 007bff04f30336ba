import type { AddName } from './new-name.ts';
import { isDistinctive, isUsable } from './usable-names.ts';
import { findMatches } from '../../text/find-matches.ts';

const detecting = /\bdetect(?:s|ed|ion|ions)?\b/i;
/** Names of antivirus products: `Win32/Foobar.A`, `Trojan:Win64/Foobar.B!dha`, `Backdoor.Linux.FOOBAR.A`. */
const detection =
  /(?<![\w./])((?:Trojan|Backdoor|Ransom|Worm|Virus|Spyware|HackTool|TrojanSpy|TrojanDownloader|TrojanDropper)(?:-\w+)?[:./])?(?:Win(?:32|64|GO)?|MSIL|Linux|OSX|MacOS|Android(?:OS)?|JS|VB[AS]|Python|PowerShell|PHP)[/.](?:(?:Trojan|Backdoor|Ransom|Spy|PSW|Filecoder|TrojanDownloader|TrojanDropper|Injector|Exploit|Rootkit|Worm)[./])?(\p{Lu}[\p{L}\d]{3,24})(?=[.!_\s,;:)"”’]|$)/gu;
/** A family of a narrow kind, such as banking trojans, is reported by its detection name alone. */
const ofKind = /(?:Trojan|Backdoor|Ransom|Worm|Virus|Spyware)-\w+[:./]/;
const generic =
  /^(?:Agent|Generic\w*|Kryptik|Injector|Filecoder|Packed|Obfus\w*|Malgent|Wacatac|Tiggre|Occamy|Meterpreter|Spy|PSW|Trojan\w*|Dropper|Downloader|Exploit|HackTool|Riskware|Suspicious|Malware|Rozena|Shellcode|Stealer|Banker|Loader|Backdoor|Ransom\w*|Rootkit)$/i;

/** Adds the families in the detection names of a sentence that reports detections, and those of a narrow kind: `Trojan-Banker.AndroidOS.Foobar`. */
export function readDetections({ sentence, start }: { sentence: string; start: number }, add: AddName): void {
  const isReport = detecting.test(sentence);
  if (!isReport && !ofKind.test(sentence)) return;
  for (const match of findMatches(detection, sentence)) {
    const family = match[2]!;
    if ((isReport || ofKind.test(match[1] ?? '')) && !generic.test(family) && isUsable(family) && isDistinctive(family))
      add('malware', family, start + match.index + match[0].length - family.length);
  }
}
