import { intrusion } from './company/intrusion.ts';

/** The required result of a detection on the company's logs: at least `hitsMin` hits on the entity, and at most `otherHitsMax` on all others together. */
export type Expectation = {
  detection: string;
  stage: string;
  entity: string;
  technique: string;
  hitsMin: number;
  otherHitsMax: number;
};

function expect(detection: string, stage: string, otherHitsMax: number): Expectation {
  const step = intrusion.find((candidate) => candidate.stage === stage);
  if (step === undefined) throw new Error(`The intrusion has no stage ${stage}`);
  return { detection, stage, entity: step.entity, technique: step.technique, hitsMin: 1, otherHitsMax };
}

/** The demo's detections, one per category. Hits on other entities come from the harmless events in `incidents.ts`. */
export const expectedHits: Expectation[] = [
  expect('sign-in-new-country', 'sign-in', 2),
  expect('account-takeover', 'access-key', 0),
  expect('aws-admin-policy-attached', 'privilege-escalation', 1),
  expect('aws-discovery-burst', 'discovery', 1),
  expect('recovery-inhibited', 'recovery-inhibited', 0),
];

/** The findings of further built-in detections in the same logs. */
export const additionalExpectedHits: Expectation[] = [
  expect('password-spray', 'password-spray', 0),
  expect('aws-secrets-harvested', 'secrets', 0),
  expect('upload-to-new-domain', 'exfiltration', 1),
  expect('aws-cloudtrail-disabled', 'log-tampering', 0),
];
