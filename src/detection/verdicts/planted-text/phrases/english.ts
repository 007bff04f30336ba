const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Words that hold English sentences together. Names, paths and commands have few of them. */
export const functionWords = set(`
  the a an this that these those it its is are was were be been am do does did not no if then than of to in on at by for from with
  without about into over under after before between through during against as and or but so because while when where which who whom
  whose what why how there here i you he she we they me him her us them my your his our their mine yours any some all each every
  either neither both few many much more most other another such only just also very too can could will would shall should may might
  must have has had let please up out off now never always ever`);

/** Function words that are no keywords of query languages or shells. */
export const proseOnlyWords = set(`
  the a an this that these those it its of are was were be been about because which whose what why how there here i you we they me us
  them my your our their such very also please never always must should would could`);

/** Function words that noun phrases have too ("users of the data platform"). */
export const phraseWords = set('the a an of in on at for from to and or with by as all no not');

/** Words that begin a question. */
export const questionWords = set(`
  what what's whats who who's whose whom which where where's when when's why why's how how's is are am was were do does did can could
  will would should shall may might have has had isn't aren't don't doesn't didn't won't can't couldn't wouldn't shouldn't ain't`);

/** Question words that begin a question even without a question mark, before the given words. */
export const openQuestion =
  /^(?:what(?:'s|s| is| are| was| were| do| does| did| would| should| can| kind| type)|who(?:'s| is| are| was| invented| wrote| won)|where (?:is|are|can|do|does|did|was)|when (?:is|was|did|does|do|will)|why (?:is|are|do|does|did|was|should|would)|how (?:do|does|did|is|are|can|could|should|would|many|much|long|old|far|tall|often|big|high)|which (?:\S+ ){1,3}(?:do|does|did|should)|can you|could you|would you|will you|do you|are you|have you)\b/;

/** Verbs that ask a reader for a text or an opinion. Programs and their users do not begin sentences with them in logs. */
export const askingVerbs = set(`
  explain translate compose summarize summarise paraphrase rephrase brainstorm recite elaborate imagine pretend recommend suggest
  teach advise describe discuss outline evaluate convince persuade promote answer reply respond tell narrate predict interpret
  argue justify debate criticize critique speculate proofread rewrite roleplay improvise quiz entertain congratulate apologize
  advertise advocate emphasize emphasise anagram scramble jumble rearrange obfuscate shuffle misspell capitalize`);

/** Verbs that ask a reader for a text, except in comments of scripts. */
export const studyVerbs = set(
  'analyze analyse rank classify calculate compute solve compare contrast assess interpret',
);

/** Verbs that ask for a text only with the right object ("write a poem"). */
export const makingVerbs = set(`
  write draft give create generate provide make list name show design invent produce prepare build craft develop find propose offer
  share present read sing say state mention insert add integrate incorporate embed append weave blend merge use employ
  introduce continue complete finish begin start end convert rate identify
  determine define plan schedule book order send set remind inform announce encourage invite ask help search
  research look check review edit correct improve enhance augment modify change replace remove swap substitute reverse encode decode
  encrypt decrypt spell count sort pick choose select guess play act simulate do keep get tweet post publish`);

/** The results that a text instructs a language model to produce: the objects of the verbs above. */
export const textObject =
  /\b(?:poem|poems|haiku|limerick|rhyme|story|stories|tale|novel|essay|letter|email|e-mail|joke|riddle|recipe|recipes|article|song|lyrics|speech|paragraph|sentence|sentences|summary|introduction|conclusion|slogan|tweet|blog|press release|headline|headlines|advertisement|advert|caption|dialogue|dialog|monologue|translation|synonym|synonyms|antonym|example of|examples|example|tip|tips|idea|ideas|reasons|fun fact|facts|facts about|differences|difference between|pros and cons|tutorial|itinerary|workout|quiz|trivia|playlist|reminder|resume|cover letter|biography|obituary|review of|python function|code snippet|snippet|pseudocode|function that|program that|(?:script|command|query|program|function|formula) (?:to|for|that)|insights|trends?|lists? of|overview|advice|statistics|steps to|ways to|getaways?|degrees|fahrenheit|celsius|letters of|backwards?|vowels|consonants|words (?:in|of)|algorithm|equation|equations|integral|derivative|square root|percentage|compound interest|capital of|population of|weather|horoscope|restaurant|restaurants|hotel|movie|movies|book|books|gift|gifts|outfit|vacation|trip to|synopsis|plot of|moral of|meaning of|history of|causes of|effects of|impact of|benefits of|advantages of|definition of|sentiment|tone of|emoji|emojis|pun|puns|anagrams|typo|typos|misspellings|cipher|caesar|base64|base32|morse|pig latin|hexadecimal|rot13|leetspeak|reverse order)\b/;

/** Words that start a sentence together with an imperative. */
export const leadWords = set(
  `please kindly just now then also and so but or first second third finally instead next always never simply quickly immediately maybe perhaps hey hi hello ok okay oh well dear`,
);

/** Words that begin the object of an imperative. */
export const objectStarts = set(`
  a an the this that these those it its your my our me us him her them all any some every each another one two three four five ten #
  how what why which who where when whether in with about between from to at on by for more only no yes each both of into as everything
  something anything everyone vowels consonants letters insights information advice examples tips ideas synonyms`);
