const join = (words: string): string =>
  words
    .trim()
    .split(/\s*,\s*/)
    .join('|');

const sectors = join(`
  governments?, governmental, ministr(?:y|ies), embass(?:y|ies), diplomats?, diplomatic, military, militaries, defen[cs]e (?:sector|industry|contractors?|industrial base|companies|firms),
  federal agenc(?:y|ies), state agenc(?:y|ies), public sector, municipalit(?:y|ies), healthcare, health care, hospitals?, medical facilities, pharmaceutical, banks?,
  banking (?:sector|customers|industry), financial (?:institutions?|services|sector|organizations|industry), insurance (?:companies|sector), fintech, energy (?:sector|companies|providers|industry),
  (?:missile|arms|weapons?|aircraft) (?:makers?|manufacturers?), energy(?! (?:consumption|efficien|use)), utilit(?:y|ies), oil and gas, power (?:grid|plants?|companies|suppliers?), water (?:utilities|suppliers?|facilities|sector), telecommunications?, telcos?, telecoms?, internet service providers?,
  manufactur(?:ing|ers?), industrial (?:companies|organizations|enterprises), automotive, aerospace, aviation, airlines?, airports?, transport(?:ation)?, logistics, shipping, maritime, retail(?:ers?)?,
  hospitality, hotels?, restaurants?, education(?:al)?, universit(?:y|ies), schools?, academics?, academia, researchers in, think tanks?, ngos?, non-?profits?, journalists?, activists?, dissidents?,
  human rights, media (?:outlets|organizations|companies), technology (?:companies|sector|firms), software (?:companies|vendors|developers?), managed service providers?, msps?, law firms?, legal sector,
  construction, real estate, agriculture, mining companies, chemical, semiconductors?, gaming (?:companies|industry), casinos?, cryptocurrency (?:industry|exchanges?|users|companies|firms|community),
  crypto (?:users|communities|community|firms|exchanges?), critical infrastructure, election, political (?:parties|campaigns?|figures|organizations), presidential campaign, e-commerce
`);
const countries = join(`
  united states, american?s?, canadian?s?, canada, mexic(?:o|an), brazil(?:ian)?, argentin(?:a|e|ian), chile(?:an)?, colombia(?:n)?, peru(?:vian)?, ecuador(?:ian)?, venezuela(?:n)?,
  costa rica(?:n)?, latin america(?:n)?, south america(?:n)?, north america(?:n)?, central america(?:n)?, united kingdom, brit(?:ain|ish), england, ireland, irish, france, french, german(?:y|s)?,
  ital(?:y|ian)s?, spain, spanish, portug(?:al|uese), netherlands, dutch, belgi(?:um|an), luxembourg, switzerland, swiss, austria(?:n)?, poland, polish, czech(?:ia)?, slovak(?:ia)?, hungar(?:y|ian),
  romania(?:n)?, bulgaria(?:n)?, greece, greek, croatia(?:n)?, serbia(?:n)?, slovenia, albania(?:n)?, ukrain(?:e|ian)s?, belarus(?:ian)?, moldova(?:n)?, lithuania(?:n)?, latvia(?:n)?, estonia(?:n)?,
  finland, finnish, sweden, swedish, norw(?:ay|egian), denmark, danish, iceland, europe(?:an)?s?, eastern europeans?, baltic, nordic, middle east(?:ern)?, gulf, israel(?:is?)?, saudi(?: arabia)?,
  uae, emirat(?:es|i), qatar, kuwait, bahrain, oman, iraq(?:i)?, jordan(?:ian)?, leban(?:on|ese), syria(?:n)?, turk(?:ey|ish), egypt(?:ian)?, morocc(?:o|an), algeria(?:n)?, tunisia, africa(?:n)?,
  south africa(?:n)?, nigeria(?:n)?, kenya(?:n)?, ethiopia, afghan(?:istan|s)?, pakistan(?:i)?s?, indian?, bangladesh, sri lanka(?:n)?, nepal, kazakh(?:stan)?, uzbek(?:istan)?, kyrgyz(?:stan)?, tajikistan,
  mongolia, china, chinese (?:users|speakers|companies|organizations|government|individuals), taiwan(?:ese)?, hong kong, japan(?:ese)?, south korean?s?, korean (?:users|companies|organizations), vietnam(?:ese)?,
  thai(?:land)?, malaysia(?:n)?, singapore(?:an)?, indonesia(?:n)?, philippines?, filipino, myanmar, cambodia, southeast asian?, east asian?, south asian?, central asian?, asia(?:-pacific|n)?, australia(?:n)?,
  \\p{L}+-speaking (?:users|people|individuals|victims|targets|business(?:es)?|companies|organi[sz]ations|countries|audiences?),
  new zealand, russian (?:organi[sz]ations|institutions|firms|business(?:es)?|companies|users|speakers|government|entities)
`);

export const sectorWords = new RegExp(String.raw`\b(?:${sectors})\b`, 'i');
const countryPattern = new RegExp(String.raw`\b(?:${countries})(?![\p{L}\p{N}])`, 'iu');
// `us` in lower case is not a country.
const countryAcronyms = /(?<![\p{L}\p{N}.])(?:U\.S\.(?:A\.)?|USA?|U\.K\.|UK|EU)(?:-based)?(?![\p{L}\p{N}])/u;

// The country of those who report an attack is not its target.
const observers =
  /(?:[\p{L}.-]+ ){1,3}(?:(?:cyber ?)?security (?:firms?|compan(?:y|ies)|vendors?|researchers?|experts?|outfits?|startups?)|authorities|prosecutors|police|law enforcement)\b/giu;

export function mentionsCountry(text: string): boolean {
  const rest = text.replaceAll(observers, ' ');
  return countryPattern.test(rest) || countryAcronyms.test(rest);
}

/** Operators of services whose failure harms a whole population. */
export const criticalInfrastructureWords =
  /\b(?:critical (?:national )?infrastructures?|(?:power|energy|electric(?:ity|al)?) (?:grids?|plants?|suppl(?:y|iers?)|compan(?:y|ies)|providers?|substations?|networks?)|sieć energetyczną|(?:fuel|gas|oil|energy|colonial) pipelines?|pipeline operator|hospitals?|(?:drinking )?water (?:utilit(?:y|ies)|suppl(?:y|iers?)|treatment|systems)|government (?:e-)?(?:services|systems|networks|institutions|websites|entities|agencies|offices)|(?:state|national) governments?|(?:city|county|local|municipal) governments|national (?:health|border|tax) |nuclear|airports?|railways?|air traffic)\b/iu;

/** Attacks that are too many for one victim: `a wave of intrusions`. */
export const attackWaves =
  /\b(?:waves?|surge|spate|series|string) of (?:[\p{L}-]+ ){0,3}(?:attacks|intrusions|incidents|breaches)\b|\battacks? wave\b/iu;

/** Sectors on which a whole population depends. */
export const vitalSectors =
  /\b(?:energy|electric(?:ity|al)?|power|water|fuel|telecom\w*|government(?:al|s)?|hospitals?|health ?care|transport(?:ation)?|railways?|infrastructure(?! security agency))\b/iu;

/** A number of people who are victims: `thousands of victims`, `35,000 users`. */
export const countedVictims =
  /\b(?:several|multiple|many|numerous|dozens of|hundreds of|thousands of|millions? of|(?<!\b(?:Microsoft|Office) )\d[\d,.]*(?: (?:thousand|million|billion))?) (?:[\p{L}-]+ ){0,2}(?:victims?|users|people|individuals|customers|employees|patients|citizens|residents|subscribers|students|developers)\b/iu;

/** Victims or targets as a group: `several hospitals`, `more than 1,000 businesses`, `a dozen companies`. */
export const severalOrganizations =
  /\b(?:several|multiple|many|numerous|various|dozens? of|(?:a )?dozen|scores of|hundreds of|thousands of|(?:over|more than|at least|nearly|about|some|up to|than) (?:\d[\d,.]*\+?|a (?:dozen|hundred|thousand))|\d{2,3}(?:,\d{3})*\+?|\d,\d{3}\+?|three|four|five|six|seven|eight|nine|ten)(?: (?!in\b|by\b|for\b|the\b|with\b|that\b|and\b)[\p{L}\p{N}.&-]+){0,4} (?:organi[sz]ations|companies|businesses|enterprises|hospitals|governments|government agencies|agencies|institutions|entities|schools|municipalities|cities|firms|providers|msps|customers|banks|universities|websites|sites|countries|sectors)\b/iu;
