import type { AddName } from './new-name.ts';
import { isDistinctive, isUsable } from './usable-names.ts';

/** A coined name before a verb or a possession: `FoobarDoor`, `FOOBARDOOR`. */
const coined = /\b[A-Z](?:[a-z]{1,14}[A-Z][a-z]{1,14}\d?|[A-Z]{5,13})(?=[’']s | [a-z])/g;
const deed =
  'steals|exfiltrates|harvests|beacons|side-?loads|injects|self-deletes|infects|propagates|masquerades as|disguises itself|logs keystrokes|evades|encrypts (?:files|data|its)|hijacks|(?:establishes|achieves|maintains|gains) persistence|persists (?:by|via|through)|(?:communicates with|contacts|connects to|polls|receives commands from) (?:its|the|an?|attacker\\S*) (?:C2|C&C|command|operator|remote server|attacker)|(?:captures|takes) (?:keystrokes|screenshots)|(?:turns|transforms|converts) (?:infected|compromised)|(?:terminates|disables|kills) (?:security|antivirus|EDR|endpoint)|uses DLL side-?loading';
const handling =
  '(?:[Dd]eploy|[Dd]rop|[Dd]eliver|[Dd]istribut|[Ss]pread|[Pp]ush|[Ss]ide-?load|[Ii]mplant)(?:s|ed|ing|es|ped|ping|e)?';
const endOfObject = String.raw`(?=[,;)]|\.(?:\s|$)|$| (?:to|on|onto|in|into|via|through|which|that|and|or|as|for|by|from|against|across|within|using|with|after|before)\b)`;
/** Malware that somebody handles: `deploying FoobarDoor on the server`, `delivers Foobar, which`. */
const objects = new RegExp(String.raw`\b${handling} (?:the )?["“‘]?(\p{Lu}[\p{L}\d]{4,20})["”’]?${endOfObject}`, 'gu');
const handled =
  'deployed|dropped|delivered|distributed|side-?loaded|loaded into memory|injected|executed in memory|sold (?:as|on|for)|advertised (?:as|on)|offered (?:as|on)|marketed (?:as|on)';
const part =
  'side-?loading|C2|C&C|command[- ]and[- ]control|payloads?|shellcode|ELF|binar(?:y|ies)|loader|dropper|persistence|infection chain|operators|obfuscation|keylogg(?:er|ing)|anti-analysis|evasion|self-destruct|backdoor|exfiltration|victims';
/** What stands after malware: what it does, what is done with it, or a part of it. */
const isSoftware = new RegExp(
  String.raw`^(?:(?: then| also| further| subsequently| itself)? (?:${deed})| (?:is|was|has been|were|being) (?:then |also |being |later )?(?:${handled})|[’']s (?:[\p{L}\d/+-]+ ){0,2}(?:${part}))(?![\p{L}-])`,
  'u',
);
const reach = 80;
/** What every match of `objects` contains. */
const hasHandling = /(?:eploy|rop|eliver|istribut|pread|ush|oad|mplant)\w* (?:the )?["“‘]?[A-Z]/;

/** Adds names that a sentence states a deed or a part of malware of. */
export function readDeeds({ sentence, start }: { sentence: string; start: number }, add: AddName): void {
  for (const { 0: name, index } of sentence.matchAll(coined))
    if (!/[./\\:@-]/.test(sentence[index - 1] ?? ' ')) {
      const end = index + name.length;
      if (isSoftware.test(sentence.slice(end, end + reach))) addSoftware(name, index);
    }
  if (hasHandling.test(sentence))
    for (const match of sentence.matchAll(objects))
      addSoftware(match[1]!, match.index + match[0].lastIndexOf(match[1]!));

  function addSoftware(name: string, at: number): void {
    if (isUsable(name) && isDistinctive(name)) add('malware', name, start + at, { isStated: false });
  }
}
