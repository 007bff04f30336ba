const titleMaxChars = 80;

/** The most sentences of a section of advice, for texts that have lost the titles after it. */
export const adviceSentencesMax = 30;

/** Returns whether a line is short and without an end, as titles of sections are. */
export const isTitleLine = (line: string): boolean =>
  line.length <= titleMaxChars &&
  /^(?:#{1,6} ?|\*\*|\d{1,2}(?:\.\d{1,2})*\.? )?["“‘(]?[\p{Lu}\p{Lo}]/u.test(line) &&
  !/[.!?;,…][\p{Pe}\p{Pf}"*]*$/u.test(line);

const question = String.raw`(?:how|steps|ways|tips) (?:to|you can|can you) (?:\w+ )?(?:protect|defend|prevent|stay|avoid|mitigate|detect|respond|secure)\b[^:]*|what (?:you|to|organi[sz]ations|companies|businesses|enterprises|defenders|users|teams) (?:should |must |can |need to )?do\b[^:]*|protect(?:ing)? (?:yourself|your|against)\b[^:]*`;
const measures = String.raw`(?:recommended|immediate|defensive|actionable|required|suggested|protective) (?:\w+ )?(?:actions?|measures|steps|tips)|(?:key |our |security |general )?(?:recommendations?|mitigations?|remediations?|countermeasures|prevention|hardening|best practices)|(?:defense|mitigation|remediation|hardening|prevention|protection|detection) (?:steps|measures|strategies|guidance|actions|opportunities|rules)|detections?`;
const adviceTitle = new RegExp(
  String.raw`^[#*\d.\s]*(?:${question}|(?:${measures})(?: (?:and|for|against|to|from|of) [^:]*)?):?[*\s]*$`,
  'i',
);

/** Returns whether a line is the title of a section that advises its readers. */
export const isAdviceTitle = (line: string): boolean => adviceTitle.test(line);
