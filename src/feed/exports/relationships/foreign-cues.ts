import type { Cue } from './relationship-cues.ts';

/** Matches whole words. `\b` knows only letters without accents. */
const words = (list: string): RegExp => new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${list})(?![\p{L}\p{N}])`, 'giu');

/** The cues of French, Spanish, Portuguese, Italian, German and, for tools, Russian, for sentences with the subject before the verb. */
export const foreignCues: Cue[] = [
  {
    type: 'uses',
    pattern: words(
      'utilis(?:e|ent|ait|aient|ant)|a(?:vait)? (?:également |aussi )?(?:utilisé|déployé|diffusé)|ont (?:utilisé|déployé|diffusé)|déploie(?:nt)?|diffuse(?:nt)?|utiliz(?:a|an|ó|aron|ando|am|ou|aram)|ha(?:n)? (?:utilizado|usado|desplegado|distribuido)|us(?:a|an|ó|aron|ando|am|ou|aram)|emple(?:a|an|ó|aron|ando)|despl(?:iega|iegan|egó|egaron|egando)|distribu(?:ye|yen|yó|yeron|yendo|i|em|iu|íram|indo|isce|iscono|endo)|utilizza(?:no|ndo|va|vano)?|ha(?:nno)? (?:utilizzato|usato|distribuito|impiegato)|nutz(?:t|en|te|ten)|verwende(?:t|n|te|ten)|verbreite(?:t|n|te|ten)|verteil(?:t|en|te|ten)|(?:ha(?:n)? logrado )?difund(?:e|en|ir|ió|ieron|iendo)|instal(?:a|an|ó|aron|am|ou|aram)|implant(?:a|an|ó|aron|ar|am|ou|aram|ano)|install(?:e|ent|ano)|déploy(?:er|ant)|использу(?:ет|ют|я)|использовал[аи]?|применя(?:ет|ют|ла|ли)|применил[аи]?|распространя(?:ет|ют|ла|ли)|развернул[аи]?|загружа(?:ет|ют)|установил[аи]?',
    ),
    from: ['actor'],
    to: ['malware', 'tool'],
  },
  {
    type: 'uses',
    pattern: words(
      '(?:utilisé|déployé|diffusé|distribué)(?:e|s|es)? par|(?:utilizad|usad|desplegad|distribu[ií]d|empregad)[oa]s? por|(?:utilizzat|usat|distribuit|impiegat)[oaie] da(?:l|lla|i|gli)?|(?:genutzt|verwendet|eingesetzt|verbreitet) von',
    ),
    from: ['actor'],
    to: ['malware', 'tool'],
    isReversed: true,
  },
  {
    type: 'targets',
    pattern: words(
      'cibl(?:e|ent|ait|aient|ant)|vis(?:e|ent|ait|aient|ant)|attaqu(?:e|ent|é|ant)|ataca(?:n|ndo|ron|ram|m)?|atac(?:ó|ou)|ataques (?:a|contra)|dirigid[oa]s (?:a|contra)|mira(?:m|ndo)?|attacca(?:no|to|ndo|va)?|colpi(?:sce|scono|to|va)|greif(?:t|en)|griff(?:en)?|attackier(?:t|en|te|ten)|cyberattaques contre|attaques contre|cyberattacchi contro|attacchi contro|Angriffe (?:auf|gegen)|trafen|t[eê]m como alvos?|teve como alvo|tienen? como objetivos?|prend(?:e|ono) di mira|(?:a|ont) pour cible|(?:atuação|actividad|attività|atividade)(?: \\p{Ll}+)? (?:no|na|nos|en|em|in)|Operationen in(?: der)?|pénétrer dans|contre|contra|contro',
    ),
    from: ['actor', 'malware'],
    to: ['sector', 'country'],
  },
  {
    type: 'exploits',
    pattern: words(
      'exploite(?:nt)?|exploité|explot(?:a|an|ó|aron|ando)|explora(?:m|ndo|ram)?|sfrutta(?:no|to|ndo)?|nutz(?:t|en|te|ten)',
    ),
    from: ['actor', 'malware'],
    to: ['vulnerability'],
  },
  {
    type: 'attributed-to',
    pattern: words('attribué(?:e|s|es)? (?:à|au)|atribuid[oa]s? a|attribuit[oaie] a(?:l|lla)?'),
    from: ['malware'],
    to: ['actor'],
  },
];

/** Returns whether a sentence in one of these languages only mentions something without stating it. */
export const isDoubtfulForeign = (sentence: string): boolean => doubtfulWords.test(sentence) || /\?\s*$/.test(sentence);
const doubtfulWords = words(
  'nicht|keine?n?|pas|jamais|nunca|não|non|jamás|mai|könnte|sollen?|pourrait|aurait|podría|habría|poderia|teria|potrebbe|avrebbe|vermutlich|wahrscheinlich|mutmaßlich|probablement|probablemente|provavelmente|probabilmente|presunt\\p{L}*',
);
