import { createWordsBefore } from './words-before.ts';

const place = String.raw`(?: (?:at|in|on|here))?[:,]? ?[<(]?`;
const hasReadingCue = createWordsBefore([
  String.raw`\b(?:see(?: also)?|read(?: more)?|more (?:technical )?(?:information|details)|(?:technical|malware|full|our) analysis)(?: (?:is|are))?(?: (?:available|published|found))?${place}`,
  String.raw`\b(?:found|seen|viewed|read|available) here[:,]? ?[<(]?`,
]);
const hasSourceCue = createWordsBefore([
  String.raw`\b(?:analysis|details|blog(?: ?post)?(?: about (?:this|it))?|reports?|article|write-?up|reference|source)(?: (?:is|are))?(?: (?:available|published|found))?${place}`,
  String.raw`\b(?:author|(?:written|analysis|research|found|discovered|reported|posted) by|credits? to|thanks to):? ?[<(]?`,
]);

/** Up to six words between a request and the address: `report the message to your bank at `. */
const words = String.raw`(?: [\p{L}’'-]{1,20}){0,6}`;
const requests = [
  String.raw`(?:report|forward|submit)${words} (?:at|to|via|on|through)`,
  String.raw`(?:contact|reach|follow|visit|join)(?: us| me| our${words}| the${words})?(?: (?:at|via|on))?`,
  String.raw`(?:subscribe|sign up|register)${words} (?:at|to|on|via)`,
  String.raw`(?:melden?|anzeigen?|wenden)${words} (?:unter|über|auf|an|bei)`,
  String.raw`(?:denunci\p{L}{1,4}|reporta\p{L}{0,3}|informa\p{L}{0,3}|avis[ae]\p{L}{0,2})${words} (?:en|a través de|em|através de|no|na)`,
  String.raw`(?:signal(?:er|ez)|déclare[rz])${words} (?:sur|à|via|auprès de)`,
  String.raw`segnala\p{L}{0,3}${words} (?:su|a|al|tramite|sul sito)`,
  String.raw`(?:zgło\p{L}{1,4}|zgłasza\p{L}{0,4})${words} (?:pod|na|przez|do|pod adresem)`,
  String.raw`(?:meld|rapporteer)${words} (?:op|via|bij)`,
  String.raw`(?:сообщ\p{L}{1,5}|повідом\p{L}{1,5}|зверта\p{L}{1,5})${words} (?:на|по|до|через|за адресою)`,
];
const hasRequest = createWordsBefore([String.raw`(?<!\p{L})(?:${requests.join('|')}):? ?[<(„“"]?`]);

/**
 * Returns whether the words directly before a live address say that the reader should go there: `more details at`, `See`, `Blog:`, `report
 * phishing at`. In a list of indicators, `report: http://…` can be what a program requests.
 */
export const isFurtherReading = (text: string, start: number, isListed: boolean): boolean =>
  hasReadingCue(text, start) || (!isListed && (hasSourceCue(text, start) || hasRequest(text, start)));
