import { severities } from '../../model/vocabulary.ts';
import { nameKey } from '../../reference-data/name-forms.ts';
import { type Claim, claimsOf, type ClaimOf } from './claim.ts';

/**
 * Returns the claims that decide: those of a model and, where it says nothing, those of the lexicon. Where both differ, the model decides. Its
 * silence about a name or a technique contradicts nothing.
 */
export function mergeClaims(lexicon: readonly Claim[], model: readonly Claim[]): Claim[] {
  const contradicts = createContradiction(model);
  return [...lexicon.filter((claim) => !contradicts(claim)), ...chooseSeverity(model)].filter(isPositive);
}

/** Returns a function that returns whether the model's claims replace a claim of the lexicon. */
function createContradiction(model: readonly Claim[]): (claim: Claim) => boolean {
  const fields = new Set(model.map(({ field }) => field));
  const techniques = new Set(claimsOf(model, 'technique').map(({ value }) => value));
  const roles = new Set(claimsOf(model, 'role').map(({ value }) => value));
  const families = new Set(claimsOf(model, 'family').map(({ kind, value }) => `${kind} ${value}`));
  const kinds = new Map(claimsOf(model, 'name').flatMap((claim) => formsOf(claim).map((form) => [form, claim.kind])));
  return (claim) => {
    switch (claim.field) {
      case 'severity':
      case 'advice':
      case 'summary':
      case 'tldr':
      case 'step':
        return fields.has(claim.field);
      case 'technique':
        return techniques.has(claim.value);
      case 'role':
        return roles.has(claim.value);
      case 'family':
        return families.has(`${claim.kind} ${claim.value}`);
      case 'name':
        return formsOf(claim).some((form) => (kinds.get(form) ?? claim.kind) !== claim.kind);
      default:
        return false;
    }
  };
}

const formsOf = ({ value, printed }: ClaimOf<'name'>): string[] => [value, ...printed].map(nameKey);

/** Keeps the highest level of a model that read several sections. */
function chooseSeverity(claims: readonly Claim[]): Claim[] {
  const rank = ({ value }: ClaimOf<'severity'>): number => severities.indexOf(value);
  const highest = Math.max(...claimsOf(claims, 'severity').map(rank));
  return claims.filter((claim) => claim.field !== 'severity' || rank(claim) === highest);
}

/** A denial has no field of its own in an item: it only removes what the other reader says. */
const isPositive = (claim: Claim): boolean =>
  !(claim.field === 'name' && claim.kind === 'none') && !(claim.field === 'technique' && !claim.isDone);
