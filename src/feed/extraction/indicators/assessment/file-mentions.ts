import type { Span } from '../../text/stored-text.ts';
import { createWordsBefore } from './words-before.ts';

/** Names of files in a list before the value: `a.exe, b.exe and `. */
const listed = String.raw`(?:["'“‘\x60]?[\w.~-]{1,40}["'”’\x60]?(?:, (?:and |or )?| and | or )){0,12}`;
const opened = String.raw`[(（:："“„«'‘\x60]?`;

/** Words that say that a file is harmless. */
const hasLegitimateCue = createWordsBefore(
  [
    String.raw`(?<!\b(?:seemingly|apparently|as|like|from) (?:the |a |an )?)\b(?:legitimate|legit|legitimately signed|genuine|benign|non-malicious|harmless)(?: (?!(?:to|that|which|then|loads?|loading|runs?|executes?|drops?|downloads?)\b)[\p{L}\d’'-]{1,20},?){0,4} ?`,
    String.raw`\b(?:copy|version) of(?: the| a)?(?: original)? `,
    String.raw`\blegitime[ns]? (?:datei|programm|anwendung) `,
    String.raw`\b(?:archivo|ejecutable|binario|fichero) legítimo `,
    String.raw`\b(?:fichier|exécutable|binaire) légitime `,
    String.raw`\b(?:file|eseguibile) legittimo `,
    String.raw`\b(?:arquivo|executável) legítimo `,
    String.raw`(?:легітимн|легитимн)\p{L}{2,4} файл\p{L}{0,2} `,
    String.raw`(?:(?:合法|正常|白)(?:的)?(?:文件|程序|进程)|(?:正規の?|正常な)(?:ファイル|プログラム|プロセス)(?:である|の)?|정상 (?:파일|프로그램|프로세스)(?:인)?) ?`,
  ].map((cue) => `${cue}${opened}`),
);
const changed = /\b(?:trojani[sz]ed|backdoored|modified|tampered|patched|fake|malicious|infected|weaponi[sz]ed)\b/i;
const legitimateBehind =
  /^["'”’)]{0,2}(?:,| -| –| —| \()? ?(?:which )?(?:is |was |itself is )?(?:an? |the |inherently )?(?:[\w’'-]{1,20} )?(?:legitimate|benign|harmless|non-malicious|not (?:inherently |itself )?malicious)\b/i;

/** Words before software that malware looks for, stops or runs in, or that an analyst used. */
const hasTargetCue = createWordsBefore(
  [
    String.raw`\b(?:(?:terminat|kill|stopp?|disabl|hollow)(?:s|es|ed|ing)?(?: the)?(?: process(?:es)?)?|(?:check|look|search|scan)(?:s|es|ed|ing)? for(?: the)?(?: process(?:es)?)?|inject(?:s|ed|ing)?(?: [\w’'-]{1,20}){0,4} into(?: the)?(?: process(?:es)?)?|(?:opened|loaded|viewed|inspected|debugged|decompiled|analy[sz]ed)(?: it| the [a-z]{1,12})? (?:in|with|using)|[Ww]e (?:then )?(?:used|opened|ran)) ${listed}${opened}`,
  ],
  'u',
);

/** Words before a program that the report tells its readers to run. */
const hasAdviceCue = createWordsBefore([
  String.raw`\b(?:administrators|admins|users|customers|defenders|organi[sz]ations|you) (?:should|can|must|may) (?:also )?(?:run|execute|use|download|install|apply)(?: the)?(?: (?:script|tool|patch|hotfix|update))? ${opened}`,
]);

/** Words before a component with a vulnerability. */
const hasVulnerableCue = createWordsBefore([
  String.raw`\b(?:flaw|bug|vulnerabilit(?:y|ies)|weakness|overflow|injection|traversal|bypass)(?: exists)? (?:in|of|affecting)(?: the)?(?: [\w-]{1,20}){0,2} ${opened}`,
  String.raw`\b(?:CVE-\d{4}-\d{4,7}|flaw|bug|vulnerability) (?:affects|resides in|is in|lies in)(?: the)? ${opened}`,
  String.raw`\b(?:patch|hotfix|security update) (?:replaces|updates|changes)(?: the)? ${listed}${opened}`,
  String.raw`\bexploit(?:s|ed|ing)(?: a [\w ]{1,30} in)?(?: the)? ${opened}`,
]);

/** Words before a document or picture of the report itself. */
const hasOwnDocumentCue = createWordsBefore([
  String.raw`\b(?:screenshots?|figures?|fig\.?|images?|abbildung|captura|imagen)(?: \d{1,2})?[:.] ${opened}`,
  String.raw`\b(?:white ?paper|our report|full report|pdf report|slides|advisory|appendix) (?:as |in |at |is )?${opened}`,
]);
const documentName = /\.(?:pdf|png|jpe?g|gif|webp|svg|pptx?)$/i;

/** Libraries that compilers and interpreters bring along. Attackers also name libraries like them for side-loading. */
const runtimeLibrary =
  /^(?:python\d{2,3}|vcruntime\d{2,3}(?:_\d)?|msvc[pr]\d{2,3}(?:_\d)?|ucrtbase|mfc\d{2,3}u?|libgcc_s_\w{1,8}-1)\.dll$/i;

const renamedTo = /^["'\x60”]? (?:to|into|becomes?|→|->|(?:is|are) renamed(?: to)?|turns into) ["'\x60“]?/;

/** Returns whether a file gets another extension behind its own: `report.docx becomes report.docx.locked`. */
function isRenamed(text: string, { start, end }: Span): boolean {
  const verb = renamedTo.exec(text.slice(end, end + 24))?.[0];
  return verb !== undefined && text.startsWith(`${text.slice(start, end)}.`, end + verb.length);
}

const changeReach = 60;

/** Returns the reason why the words around a file name in prose say that the file is harmless, or undefined. */
export function findHarmlessFileMention(text: string, { start, end }: Span): string | undefined {
  const name = text.slice(start, end);
  const isLibrary = runtimeLibrary.test(name);
  if (isLibrary || hasLegitimateCue(text, start)) {
    if (!changed.test(/[^.;\n]*$/.exec(text.slice(Math.max(0, start - changeReach), start))![0]))
      return isLibrary ? 'system file' : 'legitimate file';
  }
  if (legitimateBehind.test(text.slice(end, end + 80))) return 'legitimate file';
  if (hasTargetCue(text, start)) return 'software that is attacked or used for analysis';
  if (hasVulnerableCue(text, start) || /^[`"'”’]? (?:is|are|was|were) vulnerable\b/.test(text.slice(end, end + 20)))
    return 'vulnerable component';
  if (hasAdviceCue(text, start)) return 'recommended tool';
  if (isRenamed(text, { start, end })) return 'example of an encrypted file';
  return documentName.test(name) && hasOwnDocumentCue(text, start) ? 'document of the report' : undefined;
}
