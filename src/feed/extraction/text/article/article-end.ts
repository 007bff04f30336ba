/** Lines that begin the links, comments and forms below an article. */
const footerLine =
  /^(?:[#*>-]|[^\S\n])*(?:read (?:more|next|also)|more (?:stories|news|articles|from [^\n]{1,40})|(?:related|recommended|similar|popular|recent|latest)(?: (?:articles|stories|posts|news|reading|content|topics))?|you (?:may|might) also (?:like|be interested in)|see also|further reading|share (?:this|on)[^\n]{0,30}|comments?|leave a (?:reply|comment)|join the conversation|about the authors?|subscribe[^\n]{0,40}|(?:sign up|get)[^\n]{0,60}newsletter[^\n]{0,20}|follow us[^\n]{0,30}|tags|no (?:newer|more|previous) articles?)(?:[:.…*]|[^\S\n])*$/gim;
const articleShareMin = 0.4;

/** Returns the offset at which the article of a page ends and its footer begins, or the length of the text. */
export function findArticleEnd(text: string): number {
  const start = text.length * articleShareMin;
  footerLine.lastIndex = 0;
  for (let match = footerLine.exec(text); match; match = footerLine.exec(text))
    if (match.index >= start) return match.index;
  return text.length;
}
