import { nameKey } from '../../reference-data/name-forms.ts';
import type { EntityForms } from './entity.ts';

/** The adjectives of countries by their codes: `targeted Ukrainian agencies`. */
const demonyms =
  'AE Emirati, AF Afghan, AL Albanian, AM Armenian, AR Argentinian, AT Austrian, AU Australian, AZ Azerbaijani, BD Bangladeshi, BE Belgian, BG Bulgarian, BR Brazilian, BY Belarusian, CA Canadian, CH Swiss, CL Chilean, CN Chinese, CO Colombian, CZ Czech, DE German, DK Danish, EC Ecuadorian, EE Estonian, EG Egyptian, ES Spanish, ET Ethiopian, FI Finnish, FR French, GB British, GE Georgian, GR Greek, HR Croatian, HU Hungarian, ID Indonesian, IE Irish, IL Israeli, IN Indian, IQ Iraqi, IR Iranian, IT Italian, JO Jordanian, JP Japanese, KE Kenyan, KH Cambodian, KR South Korean, KW Kuwaiti, KZ Kazakh, LB Lebanese, LT Lithuanian, LV Latvian, MA Moroccan, MD Moldovan, MM Burmese, MN Mongolian, MX Mexican, MY Malaysian, NG Nigerian, NL Dutch, NO Norwegian, NP Nepalese, OM Omani, PE Peruvian, PH Philippine, PK Pakistani, PL Polish, PT Portuguese, QA Qatari, RO Romanian, RS Serbian, RU Russian, SA Saudi, SE Swedish, SG Singaporean, SI Slovenian, SK Slovak, SY Syrian, TH Thai, TN Tunisian, TR Turkish, TW Taiwanese, UA Ukrainian, US American, UZ Uzbek, VE Venezuelan, VN Vietnamese, ZA South African';

export const demonymForms: EntityForms[] = demonyms.split(', ').map((entry) => ({
  kind: 'country',
  name: entry.slice(0, 2),
  forms: [entry.slice(3)],
}));

/** The adjectives as an alternation of a pattern. */
export const demonymWords = demonymForms.flatMap(({ forms }) => forms).join('|');

const keys = new Set(demonymForms.flatMap(({ forms }) => forms.map(nameKey)));

/** Returns whether a word is the adjective of a country, which stands for a target only with a noun after it. */
export const isDemonym = (word: string): boolean => keys.has(nameKey(word));
