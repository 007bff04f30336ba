import type { ReferenceWords } from './reference-words.ts';

const one = String.raw`(?:[Ee]ste|[Ee]l|[Ee]se|[Ll]e|[Cc]e|[Oo]|[Ee]sse|[Ii]l|[Qq]uesto|[Dd]ie|[Dd]iese|[Dd]er|[Dd]ieser|[Dd]as)`;
const many = '(?:[Ll]os|[Ll]es|[Cc]es|[Oo]s|[Gg]li|[Ii]|[Dd]ie)';
const end = String.raw`(?![\p{L}-])`;

/** Words for the actor of an earlier sentence in French, Spanish, Portuguese, Italian and German. A verb without a subject is one as well. */
export const foreignActorWords: ReferenceWords = {
  one: new RegExp(
    String.raw`(?<!\p{L})${one} (?:grupo|groupe|gruppo|Gruppe|banda|gang|Bande|actor|acteur|Akteur)${end}(?! (?:de|di|des|der|von|que|qui|che|die)\b)`,
    'u',
  ),
  any: new RegExp(
    String.raw`(?<!\p{L})${many} (?:atacantes|hackers|ciberdelincuentes|cibercriminales|cibercriminosos|attaquants|pirates|cybercriminels|invasores|criminosos|attaccanti|criminali|Angreifer|Hacker|Täter|Cyberkriminellen)${end}|(?:^|[,;] |(?<!\p{L})que )(?=(?:utilizan|usan|emplean|distribuyen|desplegaron|han (?:utilizado|usado|desplegado|logrado|distribuido)|utilizam|usam|distribuem|utilizzano|usano|distribuiscono)${end})`,
    'u',
  ),
};

export const foreignMalwareWords: ReferenceWords = {
  one: new RegExp(
    String.raw`(?<!\p{L})${one} (?:malware|troyano|trojan|cheval de Troie|logiciel malveillant|rançongiciel|ransomware|botnet|Malware|Schadsoftware|Trojaner|Ransomware|Botnetz|programa malicioso)${end}(?! \p{Lu})`,
    'u',
  ),
};
