/** A pattern for malware and its parts. */
export const payloadWords = String.raw`(?:payloads?|malware|scripts?|files?|stages?|tools?|dlls?|executables?|binar(?:y|ies)|implants?|backdoors?|loaders?|modules?|components?|archives?|installers?|shellcode|trojans?|stealers?|ransomware|programs?|beacons?|stagers?)`;

/** A pattern for computers and what they store. */
export const dataWords = String.raw`(?:files?|data|systems?|servers?|machines?|computers?|devices?|drives?|networks?|documents?|hosts?|volumes?|endpoints?|virtual machines?|vms?|infrastructure|environments?)`;

/** A pattern for verbs of discovery. */
export const discoveryVerbs = String.raw`(?:enumerat(?:e|es|ed|ing)|list(?:s|ed|ing)|collect(?:s|ed|ing)?|gather(?:s|ed|ing)?|discover(?:s|ed|ing)?|quer(?:y|ies|ied|ying)|identif(?:y|ies|ied|ying)|retriev(?:e|es|ed|ing)|obtain(?:s|ed|ing)?|determin(?:e|es|ed|ing)|scan(?:s|ned|ning)?|search(?:es|ed|ing)?|check(?:s|ed|ing)?|look(?:s|ed|ing)? (?:for|up))`;

/** Apps that users install past the store, whose side-loading is not that of a library. */
export const appInstallation =
  /\b(?:apks?|android|google play|play store|app store|into side-?loading|side-?load(?:s|ed|ing)? (?:the |an? |malicious )*apps?)\b/i;

/** Files of the victim. Attackers who download them bring in no tools. */
export const storedFiles =
  /\b(?:files|data|documents|databases?|e-?mails?) (?:stored|hosted|saved|residing) (?:on|in)\b/i;

/**
 * Plain statements of techniques: the id, the words of which one must occur in the sentence, and the pattern of the statement. `context` must
 * occur in the sentence or the one before it, `exception` must not occur in the sentence.
 */
export type StatementRow = [
  technique: string,
  triggers: string,
  pattern: RegExp,
  conditions?: { context?: RegExp; exception?: RegExp },
];
