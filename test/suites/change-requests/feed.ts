import type { ChangeRequest } from '../../support/change-request.ts';

const everyLanguage = 'src/feed/extraction/lexicon/every-language.test.ts';

export const feedRequests: ChangeRequest[] = [
  {
    addition: 'indicator type',
    edits: {
      'src/feed/model/values/cloud-types.ts': [['  aws_account: {', '  fake_id: {},\n  aws_account: {']],
    },
    compiler: {
      'src/feed/model/values/cloud-types.ts': "missing the following properties from type 'IndicatorTypeDescriptor'",
    },
  },
  {
    addition: 'feed format',
    edits: {
      'src/feed/formats/registry.ts': [['{ kev,', '{ fake: {}, kev,']],
    },
    compiler: {
      'src/feed/formats/registry.ts': "missing the following properties from type 'SourceFormat'",
      'src/feed/formats/conformance.test.ts': "Property 'fake' is missing",
    },
  },
  {
    addition: 'filter of `GET /items`',
    edits: {
      'src/feed/items/search-terms/term-filters.ts': [['  indicator: {', '  fake: {},\n  indicator: {']],
    },
    compiler: {
      'src/feed/items/search-terms/term-filters.ts': "missing the following properties from type 'TermParameter'",
    },
    suites: { 'web/src/texts/feed.ts': 'web/src/texts/feed.test.ts' },
  },
  {
    addition: 'language of reports',
    edits: { 'src/feed/extraction/lexicon/languages.ts': [['{ de, fr', '{ fake: {}, de, fr']] },
    compiler: {
      'src/feed/extraction/lexicon/languages.ts': "missing the following properties from type 'LanguageLexicon'",
      [everyLanguage]: "Property 'fake' is missing",
    },
    suites: {
      'src/feed/extraction/text/detect-language.ts': everyLanguage,
      'src/feed/extraction/lexicon/name-cues.json': everyLanguage,
      'scripts/names/prototypes.json': everyLanguage,
    },
  },
];
